// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bounds of kernel errors against the errors themselves, over many draws of rows.
#include "feature/fourier.h"
#include "linalg/blas.h"
#include "statistic/kernel_error.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace mercer::test::kernel_certificate_test {
namespace {

using statistic::KernelCertificate;

struct Case {
  const char* name;
  std::unique_ptr<feature::FeatureMap> map;
  Matrix<double> X;
  bool local = false;  // leading eigenvectors of K lie on few rows
};

/// Errors of one size; dense and thin clusters; norms with a heavy tail; a kernel that is 0 for
/// most pairs.
std::vector<Case> cases() {
  constexpr int64_t n = 500;
  std::vector<Case> out;
  const auto gaussian = [](double l) {
    return made_map("fourier", {{"kernel", "gaussian"}, {"lengthscale", l}}, 3, 64, 2);
  };
  out.push_back({"smooth", gaussian(1), random_matrix(n, 3, 1)});
  Matrix<double> clusters = random_matrix(n, 3, 2);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < 3; ++k)
      clusters(i, k) = i % 5 == 0 ? 4 * clusters(i, k) : 0.3 * clusters(i, k) + double(i % 5);
  out.push_back({"clusters", gaussian(1), std::move(clusters)});
  Matrix<double> tail = random_matrix(n, 3, 3);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < 3; ++k)
      tail(i, k) *= std::pow((static_cast<double>(i) + 0.5) / n, -0.2);
  out.push_back(
      {"tail",
       made_map("tensor_srht", {{"kernel", "polynomial"}, {"degree", int64_t{2}}, {"offset", 1.0}},
                3, 64, 2),
       std::move(tail)});
  out.push_back({"short", gaussian(0.05), random_matrix(n, 3, 4), true});
  return out;
}

KernelCertificate certified(const Case& one, int64_t rows, uint64_t seed = 0) {
  Context context;
  return statistic::certify(*one.map, one.X.view(), {0.05, rows, seed}, context);
}

double norm_of(const Matrix<double>& A) {
  std::vector<double> values(A.rows());
  Context context;
  const Matrix<double> copied = copy(A.view());
  linalg::symmetric_eigen(copied.view(), values, context);
  return std::max(std::fabs(values.front()), std::fabs(values.back()));
}

bool within(const statistic::Bounds& bounds, double value) {
  return bounds.low <= value * (1 + 1e-9) && value <= bounds.high * (1 + 1e-9);
}

/// Trials in which the intervals hold what they bound.
struct Held {
  int64_t frobenius = 0, spectral = 0, relative = 0;
  double width = 0, spread = 0;  // mean high/low
};
Held held(const Case& one, int64_t rows, int64_t trials) {
  const KernelCertificate truth = certified(one, one.X.rows());
  Held out;
  for (int64_t t = 0; t < trials; ++t) {
    const KernelCertificate found = certified(one, rows, static_cast<uint64_t>(t) + 1);
    out.frobenius += within(found.frobenius, truth.relative);
    out.spectral += within(found.spectral, truth.spectral.low);
    out.relative += within(found.relative_spectral, truth.relative_spectral.low);
    out.width += found.frobenius.high / found.frobenius.low / static_cast<double>(trials);
    out.spread += found.spectral.high / found.spectral.low / static_cast<double>(trials);
  }
  return out;
}

/// The fewest of `trials` trials that hold with probability 0.95 each, but for kFailure.
int64_t least_held(int64_t trials, double comparisons) {
  const auto n = static_cast<double>(trials);
  return static_cast<int64_t>(0.95 * n -
                              z_threshold(kFailure, comparisons) * std::sqrt(0.95 * 0.05 * n));
}

void check_trials(int64_t rows, int64_t trials) {
  for (const Case& one : cases()) {
    const Held found = held(one, rows, trials);
    CAPTURE(one.name, found.frobenius, found.spectral, found.relative, found.width, found.spread);
    const int64_t least = least_held(trials, 12);
    CHECK(found.frobenius >= least);
    CHECK(found.spectral >= least);
    // The largest eigenvalue of "short" is that of its two nearest rows, which few draws see.
    if (!one.local) CHECK(found.relative >= least);
    CHECK(found.width < 4);
  }
}

}  // namespace

TEST_CASE("certificates of all rows are the errors themselves") {
  for (const Case& one : cases()) {
    const KernelCertificate found = certified(one, 500);
    Context context;
    const int64_t n = one.X.rows();
    Matrix<double> K(n, n);
    kernel::gram(one.map->kernel(), one.X.view(), one.X.view(), context, K.view());
    const Matrix<double> Z = features_of<double>(*one.map, one.X.view());
    const Matrix<double> estimate = product(Z.view(), transposed(Z.view()).view());
    const Matrix<double> error =
        filled(n, n, [&](int64_t i, int64_t j) { return estimate(i, j) - K(i, j); });
    CAPTURE(one.name);
    CHECK(found.exact);
    CHECK(found.relative ==
          Approx(statistic::measured_error(*one.map, one.X.view(), context)).epsilon(1e-9));
    CHECK(found.spectral.low == Approx(norm_of(error)).epsilon(1e-9));
    CHECK(found.spectral.low == found.spectral.high);
    CHECK(found.relative_spectral.high == Approx(norm_of(error) / norm_of(K)).epsilon(1e-9));
  }
}

TEST_CASE("certificates hold for 95 % of few draws of rows") { check_trials(64, 60); }

TEST_CASE("certificates: threads, memory, what is refused") {
  const Case one = std::move(cases()[0]);
  const KernelCertificate found = certified(one, 64, 3);
  Context seven;
  seven.threads = 7;
  CHECK(statistic::certify(*one.map, one.X.view(), {0.05, 64, 3}, seven).spectral.high ==
        found.spectral.high);
  CHECK(certified(one, 64, 4).relative != found.relative);
  // Not the n x n matrices, of 2 MB each.
  Context capped;
  capped.memory_cap = 2'000'000;
  CHECK(statistic::certify(*one.map, one.X.view(), {0.05, 64, 3}, capped).relative ==
        found.relative);
  capped.memory_cap = 100'000;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                statistic::certify(*one.map, one.X.view(), {0.05, 64, 3}, capped), "memory_cap");
  Context context;
  const auto refuses = [&](const feature::FeatureMap& map, const Matrix<double>& X, int64_t rows) {
    return [&map, &X, rows] {
      Context own;
      statistic::certify(map, X.view(), {0.05, rows, 0}, own);
    };
  };
  const Matrix<double> single = random_matrix(1, 3, 1), missing = random_matrix(90, 3, 1);
  missing(70, 1) = std::nan("");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, refuses(*one.map, single, 64)(), "n = 1");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, refuses(*one.map, one.X, 15)(), "rows = 15");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, refuses(*one.map, missing, 64)(), "finite");
  const auto field = made_map("fourier", {{"kernel", "curl_free"}}, 3, 12);
  CHECK_REFUSED(MERCER_UNSUPPORTED, refuses(*field, one.X, 64)(), "outputs");
}

TEST_CASE("bounds of means and quotients hold as often as they say") {
  constexpr int64_t kTrials = 4000, kDraws = 60;
  std::mt19937_64 words(5);
  const auto exponential = [&] { return -std::log((double(words() >> 11) + 0.5) * 0x1p-53); };
  int64_t low = 0, high = 0, both = 0;
  std::vector<double> a(kDraws), b(kDraws);
  for (int64_t t = 0; t < kTrials; ++t) {
    for (int64_t i = 0; i < kDraws; ++i) {
      b[i] = exponential();
      a[i] = b[i] * exponential();  // skewed; both means are 1
    }
    const statistic::Bounds mean = statistic::mean_bounds(b, 0.05);
    low += mean.low <= 1;
    high += mean.high >= 1;
    both += within(statistic::quotient_bounds(a, b, 0.05), 1);
  }
  // The corrections leave an error of order 1/kDraws in each probability.
  const double slack = z_threshold(kFailure, 5) * std::sqrt(0.95 * 0.05 / kTrials);
  CHECK(std::fabs(double(low) / kTrials - 0.95) < slack + 0.5 / kDraws);
  CHECK(std::fabs(double(high) / kTrials - 0.95) < slack + 1.0 / kDraws);
  CHECK(double(both) / kTrials > 0.95 - slack - 2.0 / kDraws);
  CHECK(double(both) / kTrials < 0.95 + slack);
  const std::vector<double> two = {1, 3}, nothing = {0, 0};
  CHECK(statistic::mean_bounds(two, 0.05).low < 2);
  CHECK(statistic::quotient_bounds(nothing, two, 0.05).low == 0);
}

TEST_CASE("certificates hold for 950 of 1,000 draws of rows", "[slow]") { check_trials(64, 1000); }

}  // namespace mercer::test::kernel_certificate_test
