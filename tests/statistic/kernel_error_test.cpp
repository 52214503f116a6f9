// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/kernel_error.h"

#include "feature/fourier.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/refusal.h"

namespace mercer::test::kernel_error_test {
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

TEST_CASE("kernel error equals the reference numbers") {
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

TEST_CASE("kernel error: by hand, leading dimensions, NaN, errors") {
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

namespace {

/// ||Re ZZ^H - K||_F / ||K||_F from the whole Z and plain products.
double error_by_hand(const feature::FeatureMap& map, const Matrix<double>& X) {
  Context context;
  const Matrix<double> Z(X.rows(), map.row_length()), K(X.rows(), X.rows());
  map.apply(X.view(), {0, map.features()}, context, Z.view());
  kernel::gram(map.kernel(), X.view(), X.view(), context, K.view());
  const Matrix<double> estimate = product(Z.view(), transposed(Z.view()).view());
  return statistic::kernel_error(estimate.view(), K.view()).relative_frobenius;
}

std::string refusal_of(const feature::FeatureMap& map, MatrixView<const double> X,
                       const char* part) {
  Context context;
  return refusal_fault(
      MERCER_INVALID_ARGUMENT, [&] { statistic::measured_error(map, X, context); }, part);
}

}  // namespace

TEST_CASE("the measured error of a map is that of its whole features") {
  const auto kernel = kernel::make_gaussian({0.8}, 2);
  const Matrix<double> X = random_matrix(7, 3, 4);
  using feature::FourierForm;
  for (const FourierForm form : {FourierForm::pair, FourierForm::phase, FourierForm::complex}) {
    // The last two need more than one part of columns.
    for (const int64_t D :
         {int64_t{40}, statistic::kErrorColumns + 6, 2 * statistic::kErrorColumns}) {
      feature::FourierOptions options;
      options.form = form;
      options.seed = 3;
      const auto map = feature::make_fourier(*kernel, 3, D, options);
      Context context;
      const double found = statistic::measured_error(*map, X.view(), context);
      // Sums of D products of about 1/D: D eps relative to k, twice.
      CHECK(std::fabs(found - error_by_hand(*map, X)) < 2.3e-16 * static_cast<double>(2 * D));
      CHECK((found > 0 && found < 2));
    }
  }
}

TEST_CASE("the measured error: what is refused, charged and cancelled") {
  const auto kernel = kernel::make_gaussian({1}, 1);
  const auto map = feature::make_fourier(*kernel, 3, 40, {});
  const Matrix<double> X = random_matrix(7, 3, 4), missing = random_matrix(7, 3, 4);
  missing(2, 1) = std::nan("");
  CHECK(refusal_of(*map, missing.view(), "the error of the map is nan") == "");
  CHECK(refusal_of(*map, {X.data(), 0, 3}, "n = 0") == "");
  Context capped;
  capped.memory_cap = 8 * 7 * (7 + 7) + 8 * 7 * 40 - 1;  // two n x n matrices and the features
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, statistic::measured_error(*map, X.view(), capped),
                "memory_cap");
  Context cancelled;
  cancelled.cancel();
  CHECK_REFUSED(MERCER_CANCELLED, statistic::measured_error(*map, X.view(), cancelled),
                "cancelled");
}

}  // namespace mercer::test::kernel_error_test
