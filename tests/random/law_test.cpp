// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Laws of numbers and of frequencies, continuous and discrete.
#include "random/distributions.h"
#include "samplers.h"
#include "support/catch.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace law_test {
using namespace mercer::random;
using namespace mercer::test;

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

TEST_CASE("laws: Kolmogorov-Smirnov, mean and variance") {
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

TEST_CASE("laws: the two halves of a block are independent") {
  // Ranks of neighbours on a 16 x 16 grid; under independence every cell has the same probability.
  for (const ClosedLaw& law : kLaws) {
    INFO(law.name);
    const auto sample = draw(sampler_of(law), test_stream(11), 0, kCount);
    std::vector<int> cells(256);
    for (size_t i = 0; i + 1 < sample.size(); i += 2) {
      const auto cell = [&](double x) { return std::min(15, static_cast<int>(16 * law.cdf(x))); };
      ++cells[16 * cell(sample[i]) + cell(sample[i + 1])];
    }
    CHECK(chi_square_uniform(cells) < chi_square_threshold(255, kFailure, std::size(kLaws)));
  }
}

TEST_CASE("laws: every variate is finite") {
  for (const Sampler& sampler : kSamplers) {
    INFO(sampler.name);
    const auto sample = draw(sampler, test_stream(12), 0, 100000);
    const auto finite = [](double x) { return std::isfinite(x); };
    CHECK(std::all_of(sample.begin(), sample.end(), finite));
  }
}

TEST_CASE("law: draws are the streams' variates") {
  std::vector<double> omega(70), expected(70);
  normal_law()->draw(test_stream(1), omega);
  fill_normal(test_stream(1), 0, expected);
  CHECK(omega == expected);
  sign_law()->draw(test_stream(1), omega);
  fill_rademacher(test_stream(1), 0, expected);
  CHECK(omega == expected);
}

TEST_CASE("law: normal radii are chi, fixed ones their root mean square") {
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

TEST_CASE("law: quantiles of one coordinate") {
  REQUIRE(normal_law()->is_product());
  REQUIRE(sign_law()->is_product());
  CHECK(std::erfc(-normal_law()->quantile(0.2) / std::sqrt(2.0)) == Approx(0.4).epsilon(1e-14));
  CHECK(sign_law()->quantile(0.49) == -1.0);
  CHECK(sign_law()->quantile(0.51) == 1.0);
}

TEST_CASE("law: signs have no direction and no radius") {
  CHECK(!sign_law()->isotropic());
  CHECK(std::isnan(sign_law()->radius(test_stream(0), 3)));
  CHECK(std::isnan(sign_law()->fixed_radius(3)));
  CHECK(std::isnan(sign_law()->scale_quantile(0.5)));
}

TEST_CASE("rademacher: all patterns of eight neighbours equally often") {
  std::vector<double> signs(8 * 100000);
  fill_rademacher(test_stream(40), 0, signs);
  std::vector<int> counts(256);
  for (size_t i = 0; i < signs.size(); i += 8) {
    size_t pattern = 0;
    for (size_t k = 0; k < 8; ++k) pattern = 2 * pattern + (signs[i + k] > 0);
    ++counts[pattern];
  }
  CHECK(chi_square_uniform(counts) < chi_square_threshold(255));
}

TEST_CASE("complex_rademacher: pairs of the four units equally often") {
  std::vector<double> units(4 * 100000);
  fill_complex_rademacher(test_stream(41), 0, units);
  std::map<std::array<double, 4>, int> counts;
  for (size_t i = 0; i < units.size(); i += 4)
    ++counts[{units[i], units[i + 1], units[i + 2], units[i + 3]}];
  REQUIRE(counts.size() == 16);
  std::vector<int> cells;
  for (const auto& [pair, count] : counts) {
    CHECK(std::abs(pair[0]) + std::abs(pair[1]) == 1.0);
    cells.push_back(count);
  }
  CHECK(chi_square_uniform(cells) < chi_square_threshold(15));
}

TEST_CASE("uniform_below: uniform without modulo bias") {
  Cursor cursor(test_stream(42));
  for (const uint64_t n : {uint64_t{2}, uint64_t{6}, uint64_t{100}}) {
    std::vector<int> counts(n);
    for (int i = 0; i < 60000; ++i) ++counts.at(uniform_below(cursor, n));
    INFO(n);
    CHECK(chi_square_uniform(counts) <
          chi_square_threshold(static_cast<double>(n - 1), kFailure, 5));
  }
  // Of the 2^64 words four share three values: without rejection every third value comes twice as
  // often (scaling a word), or the lowest third of them (its remainder).
  const uint64_t third = uint64_t{1} << 62;
  std::vector<int> residues(3);
  std::vector<int> counts(3);
  for (int i = 0; i < 60000; ++i) {
    const uint64_t value = uniform_below(cursor, 3 * third);
    ++counts.at(value / third);
    ++residues.at(value % 3);
  }
  CHECK(chi_square_uniform(counts) < chi_square_threshold(2, kFailure, 5));
  CHECK(chi_square_uniform(residues) < chi_square_threshold(2, kFailure, 5));
  CHECK(uniform_below(cursor, 1) == 0);
}

TEST_CASE("permutation: all 4! orders equally often") {
  Cursor cursor(test_stream(43));
  std::map<std::vector<int64_t>, int> counts;
  std::vector<int64_t> order(4);
  for (int i = 0; i < 48000; ++i) {
    permutation(cursor, order);
    ++counts[order];
  }
  REQUIRE(counts.size() == 24);
  std::vector<int> cells;
  for (const auto& [pattern, count] : counts) cells.push_back(count);
  CHECK(chi_square_uniform(cells) < chi_square_threshold(23));
}

TEST_CASE("permutation: every entry once, sizes 0 and 1") {
  Cursor cursor(test_stream(44));
  for (const size_t n : {0, 1, 2, 1000, 4096}) {
    std::vector<int64_t> order(n), all(n);
    permutation(cursor, order);
    std::sort(order.begin(), order.end());
    std::iota(all.begin(), all.end(), 0);
    CHECK(order == all);
  }
}

TEST_CASE("sample_without_replacement: all 120 ordered triples of six equally often") {
  Cursor cursor(test_stream(45));
  std::map<std::vector<int64_t>, int> counts;
  std::vector<int64_t> chosen(3);
  for (int i = 0; i < 60000; ++i) {
    sample_without_replacement(cursor, 6, chosen);
    ++counts[chosen];
  }
  REQUIRE(counts.size() == 120);
  std::vector<int> cells;
  for (const auto& [triple, count] : counts) {
    CHECK((triple[0] != triple[1] && triple[0] != triple[2] && triple[1] != triple[2]));
    cells.push_back(count);
  }
  CHECK(chi_square_uniform(cells) < chi_square_threshold(119));
}

TEST_CASE("sample_without_replacement: distinct and in range, up to all of them") {
  for (const int64_t n : {int64_t{1000}, int64_t{5000}, int64_t{1} << 62}) {
    Cursor cursor(test_stream(46));
    std::vector<int64_t> chosen(1000);
    sample_without_replacement(cursor, n, chosen);
    std::sort(chosen.begin(), chosen.end());
    CHECK(std::adjacent_find(chosen.begin(), chosen.end()) == chosen.end());
    CHECK(chosen.front() >= 0);
    CHECK(chosen.back() < n);
  }
}

TEST_CASE("sample_without_replacement: the first entries of the permutation") {
  Cursor one(test_stream(47)), two(test_stream(47));
  std::vector<int64_t> order(500), chosen(200);
  permutation(one, order);
  sample_without_replacement(two, 500, chosen);
  CHECK(std::equal(chosen.begin(), chosen.end(), order.begin()));
}

TEST_CASE("sample_without_replacement: more than n is refused") {
  Cursor cursor(test_stream(48));
  std::vector<int64_t> chosen(3);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, sample_without_replacement(cursor, 2, chosen),
                "sample of 3 out of n = 2", "expected at most n");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, sample_without_replacement(cursor, -1, chosen), "n = -1");
  CHECK_NOTHROW(sample_without_replacement(cursor, 0, {}));
}

}  // namespace law_test
