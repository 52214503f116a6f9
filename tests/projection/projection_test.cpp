// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The table: which laws and options each projection takes, units, blocks that are drawn alone.
// What orthogonal, Sobol' and Halton columns are for, beside the contract: no more variance than
// i.i.d. columns up to d = 8, nearer Gram matrices.
#include "projection/projection.h"

#include "columns_of.h"
#include "feature/fourier.h"
#include "projection/hadamard_blocks.h"
#include "random/distributions.h"
#include "statistic/kernel_error.h"
#include "support/catch.h"
#include "support/kernels.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace projection_test {
using namespace mercer;
using namespace mercer::test;
using namespace mercer::projection;
using namespace mercer::feature;

struct LawCase {
  const char* name;
  std::shared_ptr<const random::Law> law;
};

std::shared_ptr<const random::Law> law_of(std::shared_ptr<const kernel::Kernel> kernel) {
  return {kernel, kernel->spectral_law()};
}

std::vector<LawCase> law_cases() {
  return {{"normal", random::normal_law()},
          {"signs", random::sign_law()},
          {"matern", law_of(kernel::make_matern(1.5, {1.0}, 1.0))},
          {"rational quadratic", law_of(kernel::make_rational_quadratic(1.0, {1.0}, 1.0))},
          {"laplacian", law_of(kernel::make_laplacian({1.0}, 1.0))}};
}

// Isotropic ones here are mixtures of normal distributions.
bool takes(LawNeed need, const random::Law& law) {
  if (need == LawNeed::normal_mixture) return law.isotropic();
  return need == LawNeed::any || (need != LawNeed::product && law.isotropic()) ||
         (need != LawNeed::isotropic && need != LawNeed::uniform_direction && law.is_product());
}

ProjectionArguments plain(const LawCase& of, int64_t d, int64_t F) {
  return {of.law, {}, Unit::plain, d, F, 9, Radius::drawn, Scramble::owen, of.name};
}

/// Those of the table that this build can make.
std::vector<const ProjectionEntry*> entries() {
  std::vector<const ProjectionEntry*> all;
  for (const ProjectionEntry* entry : projection_table()) {
    const auto make = [&] { entry->make(plain({"normal", random::normal_law()}, 5, 40)); };
    if (refusal_fault(MERCER_UNSUPPORTED, make, "FFTW") != "") all.push_back(entry);
  }
  return all;
}

TEST_CASE("projections: every law is drawn from or refused by what the entry needs") {
  for (const ProjectionEntry* entry : entries()) {
    for (const LawCase& of : law_cases()) {
      INFO(entry->name << ", " << of.name);
      const auto make = [&] { entry->make(plain(of, 5, 40)); };
      if (takes(entry->need, *of.law)) {
        CHECK_NOTHROW(make());
        continue;
      }
      CHECK_REFUSED(MERCER_UNSUPPORTED, make(), of.name, entry->name);
    }
  }
}

TEST_CASE("projections: options that a projection does not use are refused") {
  for (const ProjectionEntry* entry : entries()) {
    INFO(entry->name);
    ProjectionArguments arguments = plain({"normal", random::normal_law()}, 5, 40);
    arguments.radius = Radius::fixed;
    const auto make = [&] { entry->make(arguments); };
    if (entry->uses_radius) {
      CHECK_NOTHROW(make());
    } else {
      CHECK_REFUSED(MERCER_UNSUPPORTED, make(), "radius = fixed", entry->name);
    }
    arguments.radius = Radius::drawn;
    arguments.scramble = Scramble::digital_shift;
    if (entry->uses_scramble) {
      CHECK_NOTHROW(make());
    } else {
      CHECK_REFUSED(MERCER_UNSUPPORTED, make(), "scramble", entry->name);
    }
  }
}

TEST_CASE("projections: fixed radii are for laws that have one") {
  for (const ProjectionEntry* entry : entries()) {
    if (!entry->uses_radius) continue;
    for (const LawCase& of : law_cases()) {
      if (!takes(entry->need, *of.law)) continue;
      INFO(entry->name << ", " << of.name);
      ProjectionArguments arguments = plain(of, 16, 32);
      arguments.radius = Radius::fixed;
      if (std::isnan(of.law->fixed_radius(16))) {
        CHECK_REFUSED(MERCER_UNSUPPORTED, entry->make(arguments), "radius = fixed", of.name);
        continue;
      }
      const Matrix<double> W = columns_of(*entry->make(arguments));
      for (int64_t j = 0; j < 32; ++j) {
        double squares = 0;
        for (int64_t k = 0; k < 16; ++k) squares += W(j, k) * W(j, k);
        CHECK(std::sqrt(squares) == Approx(of.law->fixed_radius(16)).epsilon(1e-13));
      }
    }
  }
}

TEST_CASE("projections: plain columns are 2 pi times those in turns") {
  for (const ProjectionEntry* entry : entries()) {
    ProjectionArguments arguments = plain({"normal", random::normal_law()}, 20, 70);
    arguments.lengthscale = {0.7};
    const Matrix<double> radians = columns_of(*entry->make(arguments));
    arguments.unit = Unit::turns;
    const Matrix<double> turns = columns_of(*entry->make(arguments));
    double worst = 0;
    for (int64_t i = 0; i < 70 * 20; ++i) {
      worst =
          std::max(worst, std::abs(radians.data()[i] / 6.28318530717958647693 - turns.data()[i]));
    }
    INFO(entry->name);
    CHECK(worst < 1e-13);
  }
}

TEST_CASE("projections: a range of blocks is what it is in the whole") {
  constexpr int64_t d = 21, F = 5000;
  Context context;
  const auto check = [&](const char* name, auto make) {
    INFO(name);
    const Matrix<double> all = columns_of(*make());
    for (const auto& [j0, j1] : {std::pair<int64_t, int64_t>{0, 1}, {1700, 1701}, {4900, F}}) {
      const Matrix<double> some = columns_of<double>(*make(), j0, j1, context);
      CHECK(same_rows(all, some, j0, j1));
    }
  };
  for (const ProjectionEntry* entry : entries()) {
    check(entry->name, [&] { return entry->make(plain({"normal", random::normal_law()}, d, F)); });
  }
  check("srht", [] { return make_srht(d, F, 9); });
}

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

}  // namespace projection_test
