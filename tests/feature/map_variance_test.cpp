// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variances of maps' features: the reference numbers, every draw, rows that are close or far.
#include "feature/anova.h"
#include "feature/fourier.h"
#include "feature/gaussian_map.h"
#include "feature/linear.h"
#include "kernel/entry.h"
#include "kernel/inner_product.h"
#include "random/distributions.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/kernels.h"
#include "support/reference.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::feature;

namespace mercer::test::map_variance_test {

TEST_CASE("the variance of signs equals the reference numbers") {
  REQUIRE(oracle("variances").at("other").size() == 4);
  for (const auto& entry : oracle("variances").at("other")) {
    const std::vector<double> x = entry.at("x"), y = entry.at("y");
    const kernel::Angle angle = kernel::angle_between(std::ssize(x), x.data(), y.data());
    CHECK(sign_variance(angle, 1) == Approx(entry.at("sign").get<double>()).epsilon(1e-12));
    CHECK(sign_variance(angle, 8) == sign_variance(angle, 1) / 8);
  }
}

TEST_CASE("variances of optical features equal the reference numbers") {
  REQUIRE(oracle("variances").at("other").size() == 4);
  for (const auto& entry : oracle("variances").at("other")) {
    const std::vector<double> x = entry.at("x"), y = entry.at("y");
    const auto product = [d = std::ssize(x)](const auto& a, const auto& b) {
      return kernel::inner_product(d, a.data(), b.data());
    };
    const double N = product(x, x) * product(y, y), dot = product(x, y);
    CHECK(optical_variance(kernel::OpticalEntries::complex, 2, dot, N, 1) ==
          Approx(entry.at("optical_m2").get<double>()).epsilon(1e-12));
    CHECK(optical_variance(kernel::OpticalEntries::complex, 4, dot, N, 1) ==
          Approx(entry.at("optical_m4").get<double>()).epsilon(1e-12));
    CHECK(optical_variance(kernel::OpticalEntries::complex, 4, dot, N, 8) ==
          optical_variance(kernel::OpticalEntries::complex, 4, dot, N, 1) / 8);
  }
}

namespace {

ExponentialPair pair_of(const std::vector<double>& x, const std::vector<double>& y) {
  ExponentialPair pair{0, 0, 0};
  for (size_t k = 0; k < x.size(); ++k) {
    pair.log_k += x[k] * y[k];
    pair.sum += (x[k] + y[k]) * (x[k] + y[k]);
    pair.difference += (x[k] - y[k]) * (x[k] - y[k]);
  }
  return pair;
}

}  // namespace

TEST_CASE("variances of positive features equal the reference numbers") {
  REQUIRE(oracle("variances").at("other").size() == 4);
  for (const auto& entry : oracle("variances").at("other")) {
    const ExponentialPair pair = pair_of(entry.at("x"), entry.at("y"));
    CHECK(tilted_variance(pair, 3, 0, 1) ==
          Approx(entry.at("positive_softmax").get<double>()).epsilon(1e-12));
    CHECK(hyperbolic_variance(pair, 1) ==
          Approx(entry.at("hyperbolic_softmax_times_D").get<double>()).epsilon(1e-12));
  }
}

// One draw of w: the estimates are k exp(a - r/2) with a = w'(x + y), k cosh(a) exp(-r/2), and k
// cos(b) exp(rho/2) with b = w'(x - y).
TEST_CASE("variances of positive features are those of simulated ones") {
  constexpr size_t kDraws = 100000;
  const std::vector<double> x = {0.2, -0.1, 0.3}, y = {0.1, 0.25, 0.2};
  ExponentialPair pair = pair_of(x, y);
  pair.log_k -= 0.4;  // radial factors and an amplitude
  const double k = std::exp(pair.log_k);
  std::vector<double> w(3 * kDraws), one, two, sister;
  random::fill_normal(random::Stream(11, random::Tag::generated, 0), 0, w);
  for (size_t i = 0; i < kDraws; ++i) {
    double a = 0, b = 0;
    for (size_t j = 0; j < 3; ++j) {
      a += w[3 * i + j] * (x[j] + y[j]);
      b += w[3 * i + j] * (x[j] - y[j]);
    }
    const auto squared = [k](double estimate) { return (estimate - k) * (estimate - k); };
    one.push_back(squared(k * std::exp(a - pair.sum / 2)));
    two.push_back(squared(k * std::cosh(a) * std::exp(-pair.sum / 2)));
    sister.push_back(squared(k * std::cos(b) * std::exp(pair.difference / 2)));
  }
  const double z = z_threshold(kFailure, 3);
  CHECK(std::fabs(studentised_z_score(one, tilted_variance(pair, 3, 0, 1))) <= z);
  CHECK(std::fabs(studentised_z_score(two, hyperbolic_variance(pair, 2))) <= z);
  CHECK(std::fabs(studentised_z_score(sister, trigonometric_variance(pair, 2))) <= z);
}

// k^2 alone is 0 in doubles, and exp(sum) overflows: their product does neither.
TEST_CASE("variances of positive features: far rows, and rows that cancel") {
  const ExponentialPair far{-400, 800.5, 800};
  CHECK(tilted_variance(far, 3, 0, 1) == Approx(std::exp(0.5)).epsilon(1e-12));
  CHECK(hyperbolic_variance(far, 1) == Approx(std::exp(0.5)).epsilon(1e-12));
  CHECK(trigonometric_variance(far, 1) == Approx(1).epsilon(1e-12));
  CHECK(tilted_variance({-3, 0, 4}, 3, 0, 5) == 0);
  CHECK(hyperbolic_variance({-3, 0, 4}, 5) == 0);
  CHECK(trigonometric_variance({3, 4, 0}, 5) == 0);
}

namespace {

StationaryValues values_of(const kernel::Kernel& k, const std::vector<double>& x,
                           const std::vector<double>& y) {
  const auto d = static_cast<int64_t>(x.size());
  return {k.value_at_multiple(0, d, x.data(), y.data()),
          k.value_at_multiple(1, d, x.data(), y.data()),
          k.value_at_multiple(2, d, x.data(), y.data())};
}

}  // namespace

// k(0)^2 - k^2 and its like are rounding where x is y, or nearly.
TEST_CASE("variances of the Fourier forms are not below 0 at rows that are close") {
  const auto kernel = kernel::make_matern(3.3, {1.0}, 1.3);
  random::Cursor cursor(random::Stream(1, random::Tag::sample, 0));
  int64_t below = 0, zero = 0;
  for (int i = 0; i < 500; ++i) {
    std::vector<double> x(3), y(3);
    for (size_t k = 0; k < 3; ++k) {
      x[k] = random::normal(cursor);
      y[k] = x[k] * (1 + (i % 2) * 1e-8 * random::normal(cursor));
    }
    const auto k = values_of(*kernel, x, y);
    for (const auto variance :
         {fourier_pair_variance, fourier_phase_variance, fourier_complex_real_variance}) {
      below += !(variance(k, 4) >= 0);
      zero += variance(k, 4) == 0;
    }
  }
  CHECK(below == 0);
  CHECK(zero > 0);
  // Values of a kernel that rounding takes above that at 0.
  CHECK(fourier_pair_variance({1, 1 + 1e-15, 1}, 1) == 0);
  for (const auto variance : {fourier_pair_variance, fourier_phase_variance})
    CHECK(std::isnan(variance({1, std::nan(""), 1}, 1)));
}

}  // namespace mercer::test::map_variance_test

namespace {

constexpr int64_t kInputs = 7;

// e_m of w_k x_k, by the definition: over all subsets.
double symmetric(const double* x, int64_t signs, int64_t m) {
  double sum = 0;
  for (int64_t subset = 0; subset < (int64_t{1} << kInputs); ++subset) {
    if (__builtin_popcountll(static_cast<unsigned long long>(subset)) != m) continue;
    double product = 1;
    for (int64_t k = 0; k < kInputs; ++k)
      if ((subset >> k & 1) != 0) product *= (signs >> k & 1) != 0 ? -x[k] : x[k];
    sum += product;
  }
  return sum;
}

template <class Column>
double mean_square(const double* x, const double* y, const Column& column) {
  double mean = 0;
  for (int64_t signs = 0; signs < (int64_t{1} << kInputs); ++signs) {
    const double estimate = column(x, signs) * column(y, signs);
    mean += estimate * estimate / static_cast<double>(int64_t{1} << kInputs);
  }
  return mean;
}

}  // namespace

TEST_CASE("anova: second moments are those over every vector of signs") {
  const Matrix<double> X = test::random_matrix(2, kInputs, 3);
  const double *const x = X.view().row(0), *const y = X.view().row(1);
  std::vector<double> scratch;
  for (int64_t m = 1; m <= kInputs; ++m) {
    const double expected =
        mean_square(x, y, [m](const double* r, int64_t signs) { return symmetric(r, signs, m); });
    INFO("degree " << m);
    CHECK(symmetric_square(kInputs, x, y, m, scratch) == Approx(expected).epsilon(1e-12));
  }
  const double all = mean_square(x, y, [](const double* r, int64_t signs) {
    double product = 1;
    for (int64_t k = 0; k < kInputs; ++k) product *= 1 + ((signs >> k & 1) != 0 ? -r[k] : r[k]);
    return product;
  });
  CHECK(subsets_square(kInputs, x, y) == Approx(all).epsilon(1e-12));
  const PairSums sums = pair_sums(kInputs, x, y);
  CHECK(symmetric_square(kInputs, x, y, 1, scratch) - sums.s * sums.s ==
        Approx(rademacher_entries_variance(sums, 1)).epsilon(1e-12));
}
