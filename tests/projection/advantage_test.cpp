// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What orthogonal, Sobol' and Halton columns are for, beside the contract: no more variance than
// i.i.d. columns up to d = 8, nearer Gram matrices.
#include "feature/fourier.h"
#include "random/distributions.h"
#include "statistic/kernel_error.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/statistic.h"

namespace advantage_test {
using namespace mercer;
using namespace mercer::feature;

std::unique_ptr<FeatureMap> map_of(const kernel::Kernel& kernel, const char* projection, int64_t d,
                                   int64_t D, uint64_t seed) {
  FourierOptions options;
  options.projection = projection;
  options.seed = seed;
  return make_fourier(kernel, d, D, options);
}

/// Non-negative rows at a distance where kernels of unit lengthscale are neither 0 nor 1.
Matrix<double> two_rows(int64_t d) {
  Matrix<double> X(2, d);
  random::fill_uniform(random::Stream(static_cast<uint64_t>(d), random::Tag::generated, 0), 0,
                       std::span(X.data(), 2 * d));
  for (int64_t i = 0; i < 2 * d; ++i) X.data()[i] /= std::sqrt(static_cast<double>(d));
  return X;
}

double inner(const Matrix<double>& Z, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < Z.cols(); ++k) sum += Z(i, k) * Z(j, k);
  return sum;
}

/// z-score of the sample variance above that of i.i.d. columns.
double excess_variance(const kernel::Kernel& kernel, const char* projection, int64_t d, int64_t D,
                       uint64_t seeds) {
  const Matrix<double> X = two_rows(d);
  const MatrixView<const double> rows = X.view();
  const double k = kernel.value(d, rows.row(0), rows.row(1));
  std::vector<double> deviations;
  for (uint64_t s = 0; s < seeds; ++s) {
    const auto Z = test::features_of(*map_of(kernel, projection, d, D, 1000 + s), X);
    deviations.push_back(std::pow(inner(Z, 0, 1) - k, 2));
  }
  double independent = 0;
  map_of(kernel, "dense", d, D, 0)
      ->variance(rows.block_rows(0, 1), rows.block_rows(1, 2), std::span(&independent, 1));
  return test::studentised_z_score(deviations, independent);
}

/// Relative Frobenius errors of Gram matrices of normal rows, one per seed.
std::vector<double> gram_errors(const kernel::Kernel& kernel, const char* projection, int64_t d,
                                int64_t D, uint64_t seeds) {
  constexpr int64_t n = 60;
  Matrix<double> X(n, d), exact(n, n), approximate(n, n);
  random::fill_normal(random::Stream(3, random::Tag::generated, 0), 0, std::span(X.data(), n * d));
  Context context;
  kernel::gram(kernel, X.view(), X.view(), context, exact.view());
  std::vector<double> errors;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Matrix<double> Z = test::features_of(*map_of(kernel, projection, d, D, seed), X);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) approximate(i, j) = inner(Z, i, j);
    }
    errors.push_back(statistic::kernel_error(approximate.view(), exact.view()).relative_frobenius);
  }
  return errors;
}

// Typical distances sqrt(2 d) are sqrt(2) lengthscales.
std::vector<double> gaussian_errors(const char* projection, int64_t d, int64_t D, uint64_t seeds) {
  return gram_errors(*kernel::make_gaussian({std::sqrt(static_cast<double>(d))}, 1.0), projection,
                     d, D, seeds);
}

/// z-score of the mean of better - worse.
double advantage(const std::vector<double>& better, const std::vector<double>& worse) {
  std::vector<double> differences;
  for (size_t i = 0; i < better.size(); ++i) differences.push_back(worse[i] - better[i]);
  return test::studentised_z_score(differences, 0);
}

TEST_CASE("low discrepancy: no more variance than i.i.d. columns up to d = 8") {
  const std::unique_ptr<kernel::Kernel> kernels[] = {
      kernel::make_matern(2.5, {0.9}, 0.7),
      kernel::make_rational_quadratic(0.8, {1.1}, 1.0),
      kernel::make_gaussian({1.3}, 2.5),
      kernel::make_laplacian({2.0}, 1.0),
      kernel::make_cauchy({1.5}, 1.0),
      kernel::make_generalized_gaussian_spectrum(1, {1.0}, 1.0),
      kernel::make_generalized_gaussian_spectrum(2, {1.0}, 1.0),
      kernel::make_skewed_chi2(0.5, 1.0)};
  const double z = test::z_threshold(test::kFailure, 2.0 * 4 * std::size(kernels));
  for (const auto& kernel : kernels) {
    for (const char* projection : {"sobol", "halton"}) {
      for (const int64_t d : {1, 2, 4, 8}) {
        CAPTURE(std::string(kernel->name()), projection, d);
        CHECK(excess_variance(*kernel, projection, d, 64, 100) < z);
      }
    }
  }
}

TEST_CASE("orthogonal: Gram matrices are nearer than with i.i.d. columns") {
  // A z-score beyond the threshold: equal means would reach it with probability kFailure.
  for (const auto& [d, D] : {std::pair{5, 10}, {5, 40}, {16, 32}, {16, 128}, {64, 128}}) {
    const auto orthogonal = gaussian_errors("orthogonal", d, D, 60),
               dense = gaussian_errors("dense", d, D, 60);
    INFO("d = " << d << ", D = " << D << ", first errors " << orthogonal[0] << " and " << dense[0]);
    CHECK(advantage(orthogonal, dense) > test::z_threshold(test::kFailure, 5));
  }
}

TEST_CASE("low discrepancy: Gram matrices are nearer than with i.i.d. columns up to d = 8") {
  for (const char* projection : {"sobol", "halton"}) {
    for (const int64_t d : {1, 2, 4, 8}) {
      const auto even = gaussian_errors(projection, d, 256, 40),
                 dense = gaussian_errors("dense", d, 256, 40);
      INFO(projection << ", d = " << d << ", first errors " << even[0] << " and " << dense[0]);
      CHECK(advantage(even, dense) > test::z_threshold(test::kFailure, 8));
    }
  }
}

TEST_CASE("low discrepancy: Gram matrices of isotropic kernels are nearer by 1.5") {
  const std::unique_ptr<kernel::Kernel> kernels[] = {
      kernel::make_matern(2.5, {1.5}, 1.0), kernel::make_rational_quadratic(2.0, {1.5}, 1.0)};
  for (const auto& kernel : kernels) {
    for (const char* projection : {"sobol", "halton"}) {
      for (const int64_t d : {1, 2}) {
        std::vector<double> even = gram_errors(*kernel, projection, d, 1024, 40);
        const std::vector<double> dense = gram_errors(*kernel, "dense", d, 1024, 40);
        INFO(projection << ", d = " << d << ", first errors " << even[0] << " and " << dense[0]);
        for (double& error : even) error *= 1.5;
        CHECK(advantage(even, dense) > test::z_threshold(test::kFailure, 8));
      }
    }
  }
}

}  // namespace advantage_test
