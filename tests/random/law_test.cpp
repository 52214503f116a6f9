// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Laws of numbers and of frequencies.
#include "random/law.h"

#include "samplers.h"
#include "support/catch.h"
#include "support/statistic.h"

using namespace mercer::random;
using namespace mercer::test;

namespace {

constexpr double kPi = 3.141592653589793238;
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();  // the moment does not exist
constexpr size_t kCount = 200000;

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

struct ClosedLaw {
  const char* name;
  double (*cdf)(double);
  double mean, variance, fourth;  // fourth central moment
};

const ClosedLaw kLaws[] = {
    {"uniform", [](double x) { return x; }, 0.5, 1.0 / 12, 1.0 / 80},
    {"normal", normal_cdf, 0, 1, 3},
    {"complex_normal", [](double x) { return normal_cdf(x * std::sqrt(2.0)); }, 0, 0.5, 0.75},
    {"cauchy", [](double x) { return 0.5 + std::atan(x) / kPi; }, kNone, kNone, kNone},
    {"laplace", [](double x) { return x < 0 ? 0.5 * std::exp(x) : 1 - 0.5 * std::exp(-x); }, 0, 2,
     24},
    {"exponential", [](double x) { return -std::expm1(-x); }, 1, 1, 9},
    {"levy", [](double x) { return std::erfc(std::sqrt(0.5 / x)); }, kNone, kNone, kNone},
    // The characteristic function is sech(t/2): moments are Euler numbers over powers of two.
    {"sech", [](double x) { return 2 / kPi * std::atan(std::exp(kPi * x)); }, 0, 1.0 / 4, 5.0 / 16},
};
constexpr double kComparisons = 3.0 * std::size(kLaws);  // distribution, mean, variance

const Sampler& sampler_of(const ClosedLaw& law) {
  for (const Sampler& sampler : kSamplers) {
    if (std::string(sampler.name) == law.name) return sampler;
  }
  throw std::logic_error(law.name);
}

}  // namespace

TEST_CASE("laws: Kolmogorov-Smirnov, mean and variance", "[random]") {
  for (const ClosedLaw& law : kLaws) {
    INFO(law.name);
    const Sampler& sampler = sampler_of(law);
    const auto sample =
        draw(sampler, test_stream(10), 0, kCount / static_cast<size_t>(sampler.width));
    CHECK(ks_distance(sample, law.cdf) < ks_threshold(sample.size(), kFailure, kComparisons));
    if (std::isnan(law.mean)) continue;
    const double z = z_threshold(kFailure, kComparisons);
    CHECK(std::abs(mean_z_score(sample, law.mean, law.variance)) < z);
    CHECK(std::abs(variance_z_score(sample, law.mean, law.variance, law.fourth)) < z);
  }
}

TEST_CASE("laws: the two halves of a block are independent", "[random]") {
  // Ranks of neighbours on a 16 x 16 grid; under independence every cell has the same probability.
  for (const ClosedLaw& law : kLaws) {
    INFO(law.name);
    const auto sample = draw(sampler_of(law), test_stream(11), 0, kCount);
    std::vector<int> cells(256);
    for (size_t i = 0; i + 1 < sample.size(); i += 2) {
      const auto cell = [&](double x) { return std::min(15, static_cast<int>(16 * law.cdf(x))); };
      ++cells[static_cast<size_t>(16 * cell(sample[i]) + cell(sample[i + 1]))];
    }
    CHECK(chi_square_uniform(cells) < chi_square_threshold(255, kFailure, std::size(kLaws)));
  }
}

TEST_CASE("laws: every variate is finite", "[random]") {
  for (const Sampler& sampler : kSamplers) {
    INFO(sampler.name);
    const auto sample = draw(sampler, test_stream(12), 0, 100000);
    const auto finite = [](double x) { return std::isfinite(x); };
    CHECK(std::all_of(sample.begin(), sample.end(), finite));
  }
}

TEST_CASE("law: draws are the streams' variates", "[random]") {
  std::vector<double> omega(70), expected(70);
  normal_law()->draw(test_stream(1), omega);
  fill_normal(test_stream(1), 0, expected);
  CHECK(omega == expected);
  sign_law()->draw(test_stream(1), omega);
  fill_rademacher(test_stream(1), 0, expected);
  CHECK(omega == expected);
}

TEST_CASE("law: normal radii are chi, fixed ones their root mean square", "[random]") {
  const auto law = normal_law();
  REQUIRE(law->isotropic());
  // Two degrees: P(radius <= r) = 1 - exp(-r^2 / 2).
  std::vector<double> radii(20000);
  for (size_t i = 0; i < radii.size(); ++i) radii[i] = law->radius(test_stream(i), 2);
  CHECK(ks_distance(radii, [](double r) { return -std::expm1(-0.5 * r * r); }) <
        ks_threshold(radii.size()));
  CHECK(law->fixed_radius(49) == 7.0);
  CHECK(law->scale_quantile(0.1) == 1.0);
}

TEST_CASE("law: quantiles of one coordinate", "[random]") {
  REQUIRE(normal_law()->is_product());
  REQUIRE(sign_law()->is_product());
  CHECK(std::erfc(-normal_law()->quantile(0.2) / std::sqrt(2.0)) == Approx(0.4).epsilon(1e-14));
  CHECK(sign_law()->quantile(0.49) == -1.0);
  CHECK(sign_law()->quantile(0.51) == 1.0);
}

TEST_CASE("law: signs have no direction and no radius", "[random]") {
  CHECK(!sign_law()->isotropic());
  CHECK(std::isnan(sign_law()->radius(test_stream(0), 3)));
  CHECK(std::isnan(sign_law()->fixed_radius(3)));
  CHECK(std::isnan(sign_law()->scale_quantile(0.5)));
}
