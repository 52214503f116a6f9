// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What every kernel row keeps: symmetric, positive semidefinite, scaled by its variance, printed
// with every field; and, where it has them, a value at 0, a lengthscale per input, a spectral law.
#include <cmath>
#include <numeric>

#include "contract/cells.h"
#include "linalg/symmetric_eigen.h"
#include "random/stream.h"
#include "spec/json.h"
#include "spec/specs.h"
#include "support/catch.h"
#include "support/refusal.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::test;

namespace {

std::unique_ptr<kernel::Kernel> make(const KernelRow& row) {
  return kernel::make_kernel(spec::parse_object(row.spec));
}

Matrix<double> gram_of(const kernel::Kernel& kernel, const Matrix<double>& X) {
  Matrix<double> K(X.rows(), X.rows());
  Context context;
  kernel::gram(kernel, X.view(), X.view(), context, K.view());
  return K;
}

constexpr std::initializer_list<int64_t> kDimensions = {1, 2, 3, 5, 16, 17};

// What the frequencies of a spectral law multiply.
std::vector<double> difference(const kernel::Kernel& kernel, const Matrix<double>& X) {
  std::vector<double> tau;
  const double l = kernel.lengthscale().empty() ? 1 : kernel.lengthscale()[0];
  for (int64_t k = 0; k < X.cols(); ++k) tau.push_back((X(0, k) - X(1, k)) / l);
  return tau;
}

}  // namespace

TEST_CASE("contract: kernels are symmetric and Gram matrices are their values", "[contract]") {
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    INFO(row.spec);
    for (const int64_t asked : kDimensions) {
      const int64_t d = std::max(asked, row.least_inputs);
      const Matrix<double> X = rows_for(row, 20, d, 3), K = gram_of(*kernel, X);
      int64_t wrong = 0;
      for (int64_t i = 0; i < 20; ++i) {
        for (int64_t j = 0; j < 20; ++j) {
          wrong += K(i, j) != kernel->value(d, X.view().row(i), X.view().row(j));
          wrong += K(i, j) != K(j, i);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("contract: Gram matrices are positive semidefinite", "[contract]") {
  constexpr int64_t n = 48;
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    for (const int64_t asked : kDimensions) {
      const int64_t d = std::max(asked, row.least_inputs);
      Matrix<double> K = gram_of(*kernel, rows_for(row, n, d, 11));
      double trace = 0;
      for (int64_t i = 0; i < n; ++i) trace += K(i, i);
      std::vector<double> values(n);
      Context context;
      linalg::symmetric_eigen(K.view(), values, context);
      INFO(row.spec << ", d = " << d);
      // Entries are good to some 100 d roundings of the diagonal: a matrix of norm n times that.
      CHECK(values.front() >= -100.0 * static_cast<double>(d) * 0x1p-53 * trace);
      CHECK(std::accumulate(values.begin(), values.end(), 0.0) == Approx(trace).epsilon(1e-12));
    }
  }
}

TEST_CASE("contract: the variance is a factor, copies keep everything else", "[contract]") {
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row), louder = kernel->with_variance(4 * kernel->variance());
    const int64_t d = std::max<int64_t>(3, row.least_inputs);
    const Matrix<double> X = rows_for(row, 2, d, 3);
    const double *const x = X.view().row(0), *const y = X.view().row(1);
    INFO(row.spec);
    const std::vector<double> bad(static_cast<size_t>(d), std::nan(""));
    CHECK(std::isnan(kernel->value(d, x, bad.data())));
    CHECK(louder->value(d, x, y) == Approx(4 * kernel->value(d, x, y)).epsilon(1e-15));
    Parameters expected = kernel->parameters();
    expected.set("variance", 4 * kernel->variance());
    CHECK(mercer::print_object(louder->parameters()) == mercer::print_object(expected));
    CHECK(refusal_fault(
              MERCER_INVALID_ARGUMENT, [&] { kernel->check_dimension(0); }, "0") == "");
    if (row.least_inputs > 1) {
      CHECK(refusal_fault(MERCER_DIMENSION_MISMATCH,
                          [&] { kernel->check_dimension(row.least_inputs - 1); }) == "");
    }
  }
}

TEST_CASE("contract: stationary kernels have a value at 0, others no law", "[contract]") {
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    const int64_t d = std::max<int64_t>(3, row.least_inputs);
    const Matrix<double> X = rows_for(row, 2, d, 3);
    const double *const x = X.view().row(0), *const y = X.view().row(1);
    INFO(row.spec);
    if (kernel->spectral_law() == nullptr) {
      CHECK(std::isnan(kernel->value_at_multiple(1, d, x, y)));
      continue;
    }
    CHECK(kernel->value(d, x, x) == Approx(kernel->value_at_zero()).epsilon(1e-14));
    CHECK(kernel->value_at_multiple(0, d, x, y) == Approx(kernel->value_at_zero()).epsilon(1e-14));
    CHECK(kernel->value_at_multiple(1, d, x, y) == kernel->value(d, x, y));
    CHECK(std::fabs(kernel->value(d, x, y)) <= kernel->value_at_zero());
  }
}

TEST_CASE("contract: a lengthscale per input divides that input", "[contract]") {
  const std::vector<double> scales = {0.5, 2, 4};
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    INFO(row.spec);
    if (kernel->lengthscale().empty()) {
      CHECK(refusal_fault(
                MERCER_UNSUPPORTED, [&] { kernel->with_lengthscale(scales); }, "lengthscale",
                std::string(kernel->name())) == "");
      continue;
    }
    const auto each = kernel->with_lengthscale(scales), unit = kernel->with_lengthscale({1});
    const Matrix<double> X = rows_for(row, 2, 3, 3);
    Matrix<double> scaled(2, 3);
    for (int64_t i = 0; i < 6; ++i)
      scaled.data()[i] = X.data()[i] / scales[static_cast<size_t>(i % 3)];
    CHECK(each->value(3, X.view().row(0), X.view().row(1)) ==
          Approx(unit->value(3, scaled.view().row(0), scaled.view().row(1))).epsilon(1e-14));
    CHECK(refusal_fault(
              MERCER_DIMENSION_MISMATCH, [&] { each->check_dimension(4); }, "3") == "");
  }
}

TEST_CASE("contract: the spectral law's characteristic function is the kernel", "[contract]") {
  constexpr int64_t kDraws = 20000;
  const double z = z_threshold(kFailure, static_cast<double>(kernel_rows().size() * 6));
  for (const KernelRow& row : kernel_rows()) {
    const auto kernel = make(row);
    // Kernels of warped inputs have none: the mean of maps with supplied frequencies is theirs.
    if (kernel->spectral_law() == nullptr || kernel->prologue() != nullptr) continue;
    for (const int64_t d : {1, 3, 17}) {
      const Matrix<double> X = two_rows(row, d);
      const std::vector<double> tau = difference(*kernel, X);
      std::vector<double> cosines, omega(static_cast<size_t>(d));
      for (int64_t draw = 0; draw < kDraws; ++draw) {
        kernel->spectral_law()->draw(
            random::Stream(5, random::Tag::frequency, static_cast<uint64_t>(draw)), omega);
        cosines.push_back(std::cos(std::inner_product(tau.begin(), tau.end(), omega.begin(), 0.0)));
      }
      const auto at = [&](double multiple) {
        return kernel->value_at_multiple(multiple, d, X.view().row(0), X.view().row(1)) /
               kernel->value_at_zero();
      };
      INFO(row.spec << ", d = " << d);
      // cos^2 = (1 + cos of twice) / 2.
      const double variance = (1 + at(2)) / 2 - at(1) * at(1);
      CHECK(std::fabs(mean_z_score(cosines, at(1), variance)) <= z);
      // Rows where the kernel says something.
      CHECK(at(1) > 0.02);
      CHECK(at(1) < 0.995);
    }
  }
}
