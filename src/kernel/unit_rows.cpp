// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/unit_rows.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "transform/inverse_norm.h"

namespace mercer::kernel {
namespace {

constexpr double kTolerance = 1e-4;

/// Also of a row of zeros, which has no inverse.
template <class T>
double norm(int64_t d, const T* x) noexcept {
  const bool zeros = std::all_of(x, x + d, [](T one) { return one == 0; });
  return zeros ? 0 : 1 / transform::inverse_norm(d, x);
}
template <class T>
double norm(const MatrixView<const T>& X, int64_t i, std::vector<T>&) noexcept {
  return norm(X.cols, X.row(i));
}
// Columns that are stored twice add up.
template <class T>
double norm(const CsrView<T>& X, int64_t i, std::vector<T>& sums) {
  sums.resize(X.cols);
  add_row(X, i, sums.data());
  const double of_row = norm(X.cols, sums.data());
  clear_row(X, i, sums.data());
  return of_row;
}

}  // namespace

void check_unit_rows(const Kernel& kernel, const char* name, const Rows& X) {
  if (!kernel.needs_unit_rows()) return;
  X.visit([&]<class View>(const View& rows) {
    std::vector<RowNumberOf<View>> sums;
    for (int64_t i = 0; i < rows.rows; ++i) {
      const double found = norm(rows, i, sums);
      const bool has_nan = std::isnan(found);
      require(
          has_nan || std::fabs(found - 1) <= kTolerance, MERCER_INVALID_ARGUMENT,
          "%s: row %ld (counted from 0) has the norm %g, expected 1, as kernel %s takes: divide "
          "rows by their norms, or say unit_rows = true",
          name, i, found, std::string(kernel.name()).c_str());
    }
  });
}

}  // namespace mercer::kernel
