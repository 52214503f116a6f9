// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A row is judged by a comparison that vectorises; only a row that fails is searched.
#include "base/finite.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace mercer {
namespace {

template <class T>
bool summable(T x) noexcept {
  if constexpr (sizeof(T) == sizeof(float)) {
    return std::abs(x) <= std::numeric_limits<float>::max();  // false for NaN, too
  } else {
    return std::abs(x) <= kLargestSummed;
  }
}

template <class T>
bool row_summable(const T* row, int64_t cols) noexcept {
  int bad = 0;
  for (int64_t j = 0; j < cols; ++j) bad |= static_cast<int>(!summable(row[j]));
  return bad == 0;
}

}  // namespace

template <class T>
void require_summable(const char* name, MatrixView<const T> X) {
  for (int64_t i = 0; i < X.rows; ++i) {
    if (row_summable(X.row(i), X.cols)) continue;
    int64_t j = 0;
    while (summable(X(i, j))) ++j;
    const auto x = static_cast<double>(X(i, j));
    fail(MERCER_INVALID_ARGUMENT,
         "%s: row %lld, column %lld (counted from 0) is %g, expected a finite number%s", name,
         static_cast<long long>(i), static_cast<long long>(j), x,
         std::isfinite(x) ? " of at most 1e150 in magnitude, whose squares can be summed" : "");
  }
}

template void require_summable(const char*, MatrixView<const float>);
template void require_summable(const char*, MatrixView<const double>);

}  // namespace mercer
