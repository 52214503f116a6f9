// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/kernel_error.h"

#include <cmath>

#include "base/aligned.h"
#include "base/error.h"
#include "kernel/kernel.h"
#include "support/catch.h"
#include "support/reference.h"

namespace mercer::test {
namespace {

Matrix<double> matrix_of(const Reference& rows) {
  Matrix<double> X(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.at(0).size()));
  for (int64_t i = 0; i < X.rows(); ++i) {
    for (int64_t j = 0; j < X.cols(); ++j)
      X(i, j) = rows.at(static_cast<size_t>(i)).at(static_cast<size_t>(j));
  }
  return X;
}

mercer_status status_of(MatrixView<const double> a, MatrixView<const double> b) {
  try {
    statistic::kernel_error(a, b);
  } catch (const Error& error) {
    return error.status();
  }
  return MERCER_OK;
}

}  // namespace

TEST_CASE("kernel error equals the reference numbers", "[statistic]") {
  const Reference entry = oracle("stats").at("frobenius");
  const Matrix<double> X = matrix_of(entry.at("X"));
  const Matrix<double> Z = matrix_of(entry.at("Z"));
  const int64_t n = X.rows();
  Matrix<double> exact(n, n), estimate(n, n);
  Context context;
  kernel::gram(*kernel::make_gaussian({1}, 1), X.view(), X.view(), context, exact.view());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      estimate(i, j) = 0;
      for (int64_t k = 0; k < Z.cols(); ++k) estimate(i, j) += Z(i, k) * Z(j, k);
    }
  }
  const statistic::KernelError error = statistic::kernel_error(estimate.view(), exact.view());
  CHECK(error.relative_frobenius == Approx(entry.at("relative").get<double>()).epsilon(1e-12));
  CHECK(error.largest == Approx(entry.at("max").get<double>()).epsilon(1e-12));
}

TEST_CASE("kernel error: by hand, leading dimensions, NaN, errors", "[statistic]") {
  const double exact[] = {3, 0, 9, 0, 4, 9};
  const double close[] = {3, 3, 9, 0, 0, 9};
  const statistic::KernelError error = statistic::kernel_error({close, 2, 2, 3}, {exact, 2, 2, 3});
  CHECK(error.relative_frobenius == 1);  // 5/5
  CHECK(error.largest == 4);
  const statistic::KernelError none = statistic::kernel_error({exact, 2, 3}, {exact, 2, 3});
  CHECK(none.relative_frobenius == 0);
  CHECK(none.largest == 0);
  const double missing[] = {3, std::nan(""), 9, 0, 100, 9};
  CHECK(std::isnan(statistic::kernel_error({missing, 2, 3}, {exact, 2, 3}).largest));
  CHECK(std::isnan(statistic::kernel_error({missing, 2, 3}, {exact, 2, 3}).relative_frobenius));
  CHECK(status_of({exact, 2, 3}, {exact, 3, 2}) == MERCER_DIMENSION_MISMATCH);
  const double zero[] = {0, 0};
  CHECK(status_of({zero, 1, 2}, {zero, 1, 2}) == MERCER_INVALID_ARGUMENT);
  CHECK(status_of({zero, 0, 2}, {zero, 0, 2}) == MERCER_INVALID_ARGUMENT);
}

}  // namespace mercer::test
