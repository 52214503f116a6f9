// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Orthogonal, Sobol' and Halton columns under the Fourier map, over kernel x projection x form x d:
// the estimate has the kernel as its mean and no more variance than i.i.d. columns; Gram matrices
// are nearer.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned.h"
#include "feature/fourier.h"
#include "kernel/kernel.h"
#include "random/distributions.h"
#include "statistic/kernel_error.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::feature;
using projection::Scramble;

namespace {

struct KernelCase {
  const char* name;
  std::unique_ptr<kernel::Kernel> (*make)();
};

const KernelCase kIsotropic[] = {
    {"gaussian", [] { return kernel::make_gaussian({1.3}, 1.0); }},
    {"matern 1/2", [] { return kernel::make_matern(0.5, {1.2}, 1.0); }},
    {"matern 5/2", [] { return kernel::make_matern(2.5, {0.9}, 0.7); }},
    {"rational quadratic", [] { return kernel::make_rational_quadratic(0.8, {1.1}, 1.0); }},
    {"generalized gaussian 1",
     [] { return kernel::make_generalized_gaussian_spectrum(1, {1.0}, 1.0); }},
};
const KernelCase kLowDiscrepancy[] = {
    {"matern 5/2", [] { return kernel::make_matern(2.5, {0.9}, 0.7); }},
    {"rational quadratic", [] { return kernel::make_rational_quadratic(0.8, {1.1}, 1.0); }},
    {"gaussian", [] { return kernel::make_gaussian({1.3}, 2.5); }},
    {"laplacian", [] { return kernel::make_laplacian({2.0}, 1.0); }},
    {"cauchy", [] { return kernel::make_cauchy({1.5}, 1.0); }},
    {"generalized gaussian 1",
     [] { return kernel::make_generalized_gaussian_spectrum(1, {1.0}, 1.0); }},
    {"generalized gaussian 2",
     [] { return kernel::make_generalized_gaussian_spectrum(2, {1.0}, 1.0); }},
    {"skewed chi2", [] { return kernel::make_skewed_chi2(0.5, 1.0); }},
};

constexpr FourierForm kForms[] = {FourierForm::pair, FourierForm::phase, FourierForm::complex};

FourierOptions options_of(const char* projection, FourierForm form, uint64_t seed,
                          Scramble scramble = Scramble::owen) {
  FourierOptions options;
  options.projection = projection;
  options.form = form;
  options.seed = seed;
  options.scramble = scramble;
  return options;
}

/// Non-negative rows at a distance where kernels of unit lengthscale are neither 0 nor 1.
Matrix<double> two_rows(int64_t d) {
  Matrix<double> X(2, d);
  random::fill_uniform(random::Stream(static_cast<uint64_t>(d), random::Tag::generated, 0), 0,
                       std::span(X.data(), static_cast<size_t>(2 * d)));
  for (int64_t i = 0; i < 2 * d; ++i) X.data()[i] /= std::sqrt(static_cast<double>(d));
  return X;
}

Matrix<double> apply(const FeatureMap& map, MatrixView<const double> X) {
  Matrix<double> Z(X.rows, map.row_length());
  Context context;
  context.threads = 1;
  map.apply(X, {0, map.features()}, context, Z.view());
  return Z;
}

/// Re z(x_i) z(x_j)^H: interleaved complex numbers give the real part as a plain inner product.
double inner(const Matrix<double>& Z, int64_t i, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < Z.cols(); ++k) sum += Z(i, k) * Z(j, k);
  return sum;
}

std::vector<double> estimates(const kernel::Kernel& kernel, const Matrix<double>& rows, int64_t D,
                              FourierOptions options, uint64_t seeds) {
  std::vector<double> result;
  for (uint64_t s = 0; s < seeds; ++s) {
    options.seed = 1000 + s;
    result.push_back(
        inner(apply(*make_fourier(kernel, rows.cols(), D, options), rows.view()), 0, 1));
  }
  return result;
}

struct Cell {
  const KernelCase& entry;
  FourierOptions options;
  int64_t d;
  int64_t D;
};

/// Closed-form variance of i.i.d. columns.
double independent_variance(const kernel::Kernel& kernel, const Matrix<double>& rows,
                            const Cell& cell) {
  double variance = 0;
  make_fourier(kernel, cell.d, cell.D, options_of("dense", cell.options.form, 0))
      ->variance(rows.view().block_rows(0, 1), rows.view().block_rows(1, 2),
                 std::span(&variance, 1));
  return variance;
}

/// z-scores: of the mean, and of the sample variance above that of i.i.d. columns.
void check(const Cell& cell, uint64_t seeds, double comparisons, bool variance_too) {
  const auto kernel = cell.entry.make();
  const Matrix<double> rows = two_rows(cell.d);
  const double k = kernel->value(cell.d, rows.view().row(0), rows.view().row(1));
  const std::vector<double> sample = estimates(*kernel, rows, cell.D, cell.options, seeds);
  CAPTURE(cell.entry.name, cell.options.projection, static_cast<int>(cell.options.form),
          static_cast<int>(cell.options.scramble), cell.d, cell.D);
  const double z = test::z_threshold(test::kFailure, comparisons);
  CHECK(std::abs(test::studentised_z_score(sample, k)) < z);
  if (!variance_too) return;
  std::vector<double> deviations;
  for (const double estimate : sample) deviations.push_back((estimate - k) * (estimate - k));
  CHECK(test::studentised_z_score(deviations, independent_variance(*kernel, rows, cell)) < z);
}

void check_orthogonal(std::initializer_list<int64_t> dimensions, uint64_t seeds) {
  const double comparisons =
      2.0 * std::size(kIsotropic) * std::size(kForms) * static_cast<double>(dimensions.size());
  for (const KernelCase& entry : kIsotropic) {
    for (const FourierForm form : kForms) {
      for (const int64_t d : dimensions) {
        // One whole block and one incomplete one at least.
        const int64_t F = d + d / 2 + 1;
        const int64_t D = form == FourierForm::pair ? 2 * F : F;
        check({entry, options_of("orthogonal", form, 0), d, D}, seeds, comparisons, true);
      }
    }
  }
}

void check_low_discrepancy(std::initializer_list<int64_t> dimensions, int64_t D, uint64_t seeds) {
  const double comparisons =
      4.0 * std::size(kLowDiscrepancy) * std::size(kForms) * static_cast<double>(dimensions.size());
  for (const KernelCase& entry : kLowDiscrepancy) {
    for (const FourierForm form : kForms) {
      for (const char* projection : {"sobol", "halton"}) {
        for (const Scramble scramble : {Scramble::owen, Scramble::digital_shift}) {
          for (const int64_t d : dimensions) {
            check({entry, options_of(projection, form, 0, scramble), d, D}, seeds, comparisons,
                  false);
          }
        }
      }
    }
  }
}

/// Relative Frobenius errors of Gram matrices of normal rows, one per seed.
std::vector<double> gram_errors(const kernel::Kernel& kernel, const char* projection, int64_t d,
                                int64_t D, uint64_t seeds) {
  constexpr int64_t n = 60;
  Matrix<double> X(n, d), exact(n, n), approximate(n, n);
  random::fill_normal(random::Stream(3, random::Tag::generated, 0), 0,
                      std::span(X.data(), static_cast<size_t>(n * d)));
  Context context;
  kernel::gram(kernel, X.view(), X.view(), context, exact.view());
  std::vector<double> errors;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    const Matrix<double> Z = apply(
        *make_fourier(kernel, d, D, options_of(projection, FourierForm::pair, seed)), X.view());
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

}  // namespace

TEST_CASE("orthogonal: unbiased, no more variance than i.i.d. columns", "[projection]") {
  check_orthogonal({1, 2, 3, 5, 16}, 1500);
}

TEST_CASE("orthogonal: unbiased, no more variance than i.i.d. columns, more seeds and sizes",
          "[projection][slow]") {
  check_orthogonal({1, 2, 3, 4, 5, 8}, 10000);
  check_orthogonal({16, 33, 70}, 2000);
}

TEST_CASE("low discrepancy: unbiased", "[projection]") { check_low_discrepancy({1, 3, 9}, 4, 500); }

TEST_CASE("low discrepancy: unbiased, more seeds and sizes", "[projection][slow]") {
  check_low_discrepancy({1, 2, 3, 8}, 10, 1500);
  check_low_discrepancy({17, 70}, 6, 500);
}

TEST_CASE("low discrepancy: no more variance than i.i.d. columns up to d = 8", "[projection]") {
  for (const KernelCase& entry : kLowDiscrepancy) {
    for (const char* projection : {"sobol", "halton"}) {
      for (const int64_t d : {1, 2, 4, 8}) {
        check({entry, options_of(projection, FourierForm::pair, 0), d, 64}, 100,
              2.0 * 2 * 4 * std::size(kLowDiscrepancy), true);
      }
    }
  }
}

TEST_CASE("orthogonal: Gram matrices are nearer than with i.i.d. columns", "[projection]") {
  // A z-score beyond the threshold: equal means would reach it with probability kFailure.
  for (const auto& [d, D] : {std::pair{5, 10}, {5, 40}, {16, 32}, {16, 128}, {64, 128}}) {
    const auto orthogonal = gaussian_errors("orthogonal", d, D, 60),
               dense = gaussian_errors("dense", d, D, 60);
    INFO("d = " << d << ", D = " << D << ", first errors " << orthogonal[0] << " and " << dense[0]);
    CHECK(advantage(orthogonal, dense) > test::z_threshold(test::kFailure, 5));
  }
}

TEST_CASE("low discrepancy: Gram matrices are nearer than with i.i.d. columns up to d = 8",
          "[projection]") {
  for (const char* projection : {"sobol", "halton"}) {
    for (const int64_t d : {1, 2, 4, 8}) {
      const auto even = gaussian_errors(projection, d, 256, 40),
                 dense = gaussian_errors("dense", d, 256, 40);
      INFO(projection << ", d = " << d << ", first errors " << even[0] << " and " << dense[0]);
      CHECK(advantage(even, dense) > test::z_threshold(test::kFailure, 8));
    }
  }
}

TEST_CASE("low discrepancy: Gram matrices of isotropic kernels are nearer by half",
          "[projection]") {
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
