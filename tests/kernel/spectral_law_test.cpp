// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Spectral laws: their characteristic function is the kernel, radii and quantiles are those of the
// draws.
#include "kernel/cases.h"
#include "support/catch.h"
#include "support/statistic.h"

namespace mercer::test::spectral_law_test {
namespace {

constexpr int64_t kDraws = 20000;

random::Stream frequency(int64_t index) {
  return {2024, random::Tag::frequency, static_cast<uint64_t>(index)};
}

// One coordinate of the difference after the prologue.
double difference(const kernel::Kernel& k, double x, double y) {
  if (const auto prologue = k.prologue()) {
    prologue->run(&x, 1, &x, nullptr);
    prologue->run(&y, 1, &y, nullptr);
  }
  return x - y;
}

std::vector<double> norms(const random::Law& law, int64_t d) {
  std::vector<double> result(kDraws);
  std::vector<double> omega(d);
  for (int64_t i = 0; i < kDraws; ++i) {
    law.draw(frequency(i), omega);
    double sum = 0;
    for (const double w : omega) sum += w * w;
    result[i] = std::sqrt(sum);
  }
  return result;
}

}  // namespace

// E cos(omega'tau) = k(tau), with the variance (1 + k(2 tau) - 2 k(tau)^2)/2 of one cosine.
TEST_CASE("the mean of cos(omega'tau) is the kernel") {
  const std::vector<KernelCase> cases = kernel_cases(1, 1);
  const std::vector<int64_t> dimensions = {1, 3, 17};
  const int64_t pairs = 4;
  const double threshold =
      z_threshold(kFailure, static_cast<double>(cases.size() * dimensions.size() * pairs));
  for (const KernelCase& c : cases) {
    for (const int64_t d : dimensions) {
      const Matrix<double> X =
          inputs_for(*c.kernel, 2 * pairs, d, 0.9 / std::sqrt(static_cast<double>(d)), 3);
      std::vector<double> sum(pairs, 0.0);
      std::vector<double> omega(d);
      for (int64_t i = 0; i < kDraws; ++i) {
        c.kernel->spectral_law()->draw(frequency(i), omega);
        for (int64_t p = 0; p < pairs; ++p) {
          double angle = 0;
          for (int64_t j = 0; j < d; ++j) {
            angle += omega[j] * difference(*c.kernel, X(2 * p, j), X(2 * p + 1, j));
          }
          sum[p] += std::cos(angle);
        }
      }
      double worst = 0;
      for (int64_t p = 0; p < pairs; ++p) {
        const double* x = X.view().row(2 * p);
        const double* y = X.view().row(2 * p + 1);
        const double once = c.kernel->value(d, x, y);
        const double twice = c.kernel->value_at_multiple(2, d, x, y);
        const double variance = (1 + twice - 2 * once * once) / 2 / kDraws;
        const double z = std::fabs(sum[p] / kDraws - once) / std::sqrt(variance);
        if (!(z <= worst)) worst = z;
      }
      INFO(c.label << ", d = " << d);
      CHECK(worst <= threshold);
    }
  }
}

// Both empirical distributions are within the Dvoretzky-Kiefer-Wolfowitz distance of the truth,
// hence within twice of each other.
TEST_CASE("radius has the law of the norm of a draw") {
  for (const KernelCase& c : kernel_cases(1, 1)) {
    const random::Law& law = *c.kernel->spectral_law();
    INFO(c.label);
    for (const int64_t d : {1, 3, 17}) {
      if (!law.isotropic()) {
        CHECK(std::isnan(law.radius(frequency(0), d)));
        continue;
      }
      std::vector<double> radii(kDraws);
      for (int64_t i = 0; i < kDraws; ++i) {
        radii[i] = law.radius({7, random::Tag::radius, static_cast<uint64_t>(i)}, d);
      }
      INFO("d = " << d);
      CHECK(two_sample_distance(norms(law, d), radii) <= 2 * ks_threshold(kDraws, kFailure, 200));
    }
  }
}

TEST_CASE("omega is scale_quantile of a uniform number times a normal vector") {
  for (const KernelCase& c : kernel_cases(1, 1)) {
    const random::Law& law = *c.kernel->spectral_law();
    INFO(c.label);
    CHECK(std::isnan(law.scale_quantile(0.3)) == !law.isotropic());
    if (!law.isotropic()) continue;
    std::vector<double> u(kDraws), z(3), scaled(kDraws);
    random::fill_uniform({8, random::Tag::generated, 0}, 0, u);
    double fallen = 0;
    for (int64_t i = 0; i < kDraws; ++i) {
      random::fill_normal({9, random::Tag::generated, static_cast<uint64_t>(i)}, 0, z);
      scaled[i] = law.scale_quantile(u[i]) * std::sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
      const double at = static_cast<double>(i) / kDraws + 0x1p-54;
      fallen += law.scale_quantile(at) > law.scale_quantile(at + 0.5 / kDraws);
    }
    CHECK(fallen == 0);
    CHECK(two_sample_distance(norms(law, 3), scaled) <= 2 * ks_threshold(kDraws, kFailure, 200));
  }
}

TEST_CASE("quantiles are those of the draws' coordinates") {
  const int64_t d = 3;
  for (const KernelCase& c : kernel_cases(1, 1)) {
    const random::Law& law = *c.kernel->spectral_law();
    INFO(c.label);
    CHECK(std::isnan(law.quantile(0.3)) == !law.is_product());
    if (!law.is_product()) continue;
    std::vector<double> sample(kDraws);  // the last coordinate of each draw
    std::vector<double> omega(d);
    for (int64_t i = 0; i < kDraws; ++i) {
      law.draw(frequency(i), omega);
      sample[i] = omega[d - 1];
    }
    std::sort(sample.begin(), sample.end());
    double worst = 0;
    double previous = -1e300;
    for (int i = 1; i < 1000; ++i) {
      const double u = i / 1000.0;
      const double q = law.quantile(u);
      CHECK(q > previous);
      previous = q;
      const auto below =
          static_cast<double>(std::upper_bound(sample.begin(), sample.end(), q) - sample.begin());
      worst = std::max(worst, std::fabs(below / kDraws - u));
      CHECK(law.quantile(1 - u) == Approx(-q).epsilon(1e-12).margin(1e-15));
    }
    CHECK(worst <= ks_threshold(kDraws, kFailure, 20));
  }
}

TEST_CASE("quantiles of known laws, far tails included") {
  const double pi = std::acos(-1.0);
  const auto cauchy = kernel::make_laplacian({1}, 1);
  const auto laplace = kernel::make_cauchy({1}, 1);
  const auto sech = kernel::make_skewed_chi2(1, 1);
  for (const double u : {1e-300, 1e-20, 1e-9, 1e-3, 0.1, 0.24, 0.26, 0.4, 0.4999}) {
    INFO("u = " << u);
    CHECK(cauchy->spectral_law()->quantile(u) == Approx(-1 / std::tan(pi * u)).epsilon(1e-12));
    CHECK(laplace->spectral_law()->quantile(u) == Approx(std::log(2 * u)).epsilon(1e-13));
    CHECK(sech->spectral_law()->quantile(u) ==
          Approx(std::log(std::tan(pi * u / 2)) / pi).epsilon(1e-12).margin(1e-15));
  }
}

TEST_CASE("draws are finite, in single precision too, and a function of the stream") {
  std::vector<KernelCase> cases = kernel_cases(1, 1);
  cases.push_back({"matern, tiny nu", kernel::make_matern(1e-3, {1}, 1)});
  cases.push_back(
      {"rational quadratic, tiny alpha", kernel::make_rational_quadratic(1e-3, {1}, 1)});
  for (const KernelCase& c : cases) {
    INFO(c.label);
    std::vector<double> omega(5);
    std::vector<double> again(5);
    bool finite = true;
    bool same = true;
    for (int64_t i = 0; i < 2000; ++i) {
      c.kernel->spectral_law()->draw(frequency(i), omega);
      c.kernel->spectral_law()->draw(frequency(i), again);
      for (const double w : omega) finite = finite && std::isfinite(static_cast<float>(w));
      same = same && omega == again;
    }
    CHECK(finite);
    CHECK(same);
  }
}

}  // namespace mercer::test::spectral_law_test
