// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/unit_rows.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "transform/inverse_norm.h"

namespace mercer::kernel {
namespace {

constexpr double kTolerance = 1e-4;

template <class T>
double inverse_norm(const MatrixView<const T>& X, int64_t i, std::vector<T>&) noexcept {
  return transform::inverse_norm(X.cols, X.row(i));
}
// Columns that are stored twice add up.
template <class T>
double inverse_norm(const CsrView<T>& X, int64_t i, std::vector<T>& sums) {
  sums.resize(X.cols);
  add_row(X, i, sums.data());
  const double inverse = transform::inverse_norm(X.cols, sums.data());
  clear_row(X, i, sums.data());
  return inverse;
}

}  // namespace

void check_unit_rows(const Kernel& kernel, const char* name, const Rows& X) {
  if (!kernel.needs_unit_rows()) return;
  X.visit([&]<class View>(const View& rows) {
    std::vector<RowNumberOf<View>> sums;
    for (int64_t i = 0; i < rows.rows; ++i) {
      const double norm = 1 / inverse_norm(rows, i, sums);
      const bool has_nan = std::isnan(norm);
      require(
          has_nan || std::fabs(norm - 1) <= kTolerance, MERCER_INVALID_ARGUMENT,
          "%s: row %ld (counted from 0) has the norm %g, expected 1, as kernel %s takes: divide "
          "rows by their norms, or say unit_rows = true",
          name, i, norm, std::string(kernel.name()).c_str());
    }
  });
}

}  // namespace mercer::kernel
