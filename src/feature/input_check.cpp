// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/input_check.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernel/unit_rows.h"

namespace mercer::feature {
namespace {

/// Calls body(column, value) for the numbers of row i. `sums`: a zero for each column of sparse
/// rows, which are zeros again afterwards.
template <class T, class Body>
void for_each_number(const MatrixView<const T>& X, int64_t i, std::vector<double>&,
                     const Body& body) {
  for_each_listed(X, i, body);
}
template <class T, class Body>
void for_each_number(const CsrView<T>& X, int64_t i, std::vector<double>& sums, const Body& body) {
  sums.resize(X.cols);
  add_row(X, i, sums.data());
  for_each_listed(X, i, [&](int64_t j, T) { body(j, sums[j]); });
  clear_row(X, i, sums.data());
}

}  // namespace

std::optional<BadInput> find_bad_input(const kernel::Kernel& kernel, const Rows& X, int64_t begin,
                                       int64_t end) {
  const std::optional<kernel::InputBound> bound = kernel.input_bound();
  std::optional<BadInput> found;
  std::vector<double> sums;
  X.visit([&](const auto& rows) {
    for (int64_t i = begin; i < end && !found; ++i) {
      for_each_number(rows, i, sums, [&](int64_t j, double x) {
        if (!found && (!std::isfinite(x) || (bound && bound->excludes(x)))) found = {i, j, x};
      });
    }
  });
  return found;
}

void refuse(const kernel::Kernel& kernel, const BadInput& bad) {
  const int64_t row = bad.row, column = bad.column;
  require(std::isfinite(bad.value), MERCER_INVALID_ARGUMENT,
          "X: row %ld, column %ld (counted from 0) is %g, expected finite numbers: leave the row "
          "out",
          row, column, bad.value);
  const kernel::InputBound bound = kernel.input_bound().value_or(kernel::InputBound{});
  fail(MERCER_INVALID_ARGUMENT,
       "X: row %ld, column %ld (counted from 0) is %g, expected a number %s %g, as kernel %s "
       "takes: leave the row out",
       row, column, bad.value, bound.open ? ">" : ">=", bound.least,
       std::string(kernel.name()).c_str());
}

void require_inputs(const kernel::Kernel& kernel, const Rows& X) {
  const std::optional<BadInput> bad = find_bad_input(kernel, X, 0, X.rows());
  if (bad) refuse(kernel, *bad);
  kernel::check_unit_rows(kernel, "X", X);
}

}  // namespace mercer::feature
