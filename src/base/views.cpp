// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A row is tested by a comparison that vectorises; only a row that fails is searched.
#include "base/views.h"

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
bool all_summable(const T* numbers, int64_t count) noexcept {
  int bad = 0;
  for (int64_t j = 0; j < count; ++j) bad |= static_cast<int>(!summable(numbers[j]));
  return bad == 0;
}

template <class T>
bool row_summable(const MatrixView<const T>& X, int64_t i) noexcept {
  return all_summable(X.row(i), X.cols);
}
template <class T>
bool row_summable(const CsrView<T>& X, int64_t i) noexcept {
  return all_summable(X.values + X.begin(i), X.end(i) - X.begin(i));
}

[[noreturn]] void refuse(const char* name, int64_t row, int64_t column, double x) {
  fail(MERCER_INVALID_ARGUMENT, at(row, column), "%s is %g, expected a finite number%s", name, x,
       std::isfinite(x) ? " of at most 1e150 in magnitude, whose squares can be summed" : "");
}

}  // namespace

void require_summable(const char* name, const Rows& rows, MissingNumbers missing) {
  const bool nan_is_right = missing == MissingNumbers::allowed;
  rows.visit([&](const auto& X) {
    for (int64_t i = 0; i < X.rows; ++i) {
      if (row_summable(X, i)) continue;
      for_each_stored(X, i, [&](int64_t j, auto x) {
        if (!summable(x) && !(nan_is_right && std::isnan(x)))
          refuse(name, i, j, static_cast<double>(x));
      });
    }
  });
}

}  // namespace mercer
