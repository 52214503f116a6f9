// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Columns by degree against the reference numbers and against every possible allotment.
#include <numeric>

#include "feature/maclaurin.h"
#include "feature/sketch_tree.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"
#include "support/statistic.h"

namespace degree_allotment_test {
using namespace mercer;
using namespace mercer::test;
using feature::allot_degrees, feature::best_allotment, feature::DegreeAllotment,
    feature::DegreeCosts;
using projection::SketchField;

Parameters kernel_spec(const std::string& target, const Reference& params) {
  if (target == "polynomial")
    return {{"kernel", "polynomial"},
            {"degree", params["p"].get<int64_t>()},
            {"gamma", params["gamma"].get<double>()},
            {"offset", params["nu"].get<double>()}};
  if (target == "series")
    return {{"kernel", "dot_product"},
            {"coefficients", params["coefficients"].get<std::vector<double>>()}};
  return {{"kernel", target.c_str()}, {"lengthscale", params["ell"].get<double>()}};
}

/// Rows over the lengthscale.
Matrix<double> rows_of(const Reference& data, const kernel::Kernel& kernel) {
  const double l = kernel.lengthscale().empty() ? 1 : kernel.lengthscale()[0];
  return filled(static_cast<int64_t>(data.size()), static_cast<int64_t>(data[0].size()),
                [&](int64_t i, int64_t j) { return data[i][j].get<double>() / l; });
}

DegreeCosts costs_of(const Reference& entry, int64_t most) {
  const auto name = entry["data"].get<std::string>();
  const auto kernel = kernel::make_kernel(kernel_spec(entry["target"], entry["params"]));
  const auto sketch = entry["sketch"].get<std::string>();
  const feature::SeriesSketch of{
      *projection::sketch_kind(sketch == "tensorsrht_stacked" ? "stacked" : sketch),
      entry["complex"].get<bool>() ? SketchField::complex : SketchField::real,
      oracle("maclaurin")["padded_d"][name].get<int64_t>()};
  const Matrix<double> X = rows_of(oracle("maclaurin")["datasets"][name], *kernel);
  Context context;
  DegreeCosts costs{
      feature::series_error(*kernel->series(), of, most, X.view(), context), of.padded, {}};
  for (int64_t n = 1; n <= most; ++n)
    costs.sketched.push_back(kernel->series()->coefficient(n) > 0);
  return costs;
}

double worst_share(double worst, double got, double expected) {
  const double share = std::fabs(got - expected) / (1e-10 * std::fabs(expected) + 1e-14);
  return share <= worst ? worst : share;  // NaN, too
}

TEST_CASE("degree allotment: the reference allotments and their errors") {
  int64_t compared = 0;
  double worst = 0;
  for (const Reference& entry : oracle("maclaurin")["allocations"]) {
    const auto total = entry["D_total"].get<int64_t>();
    const auto least = entry["p_min"].get<int64_t>(), most = entry["p_max"].get<int64_t>();
    const DegreeCosts costs = costs_of(entry, most);
    for (int64_t p = least; p <= most; ++p) {
      const std::string key = std::to_string(p);
      if (!entry["per_p"].contains(key)) continue;
      const Reference& expected = entry["per_p"][key];
      const DegreeAllotment got = allot_degrees(costs, p, total);
      CHECK(got.columns == expected["D"].get<std::vector<int64_t>>());
      worst = worst_share(worst, got.error(), expected["objective"]);
      worst = worst_share(worst, got.bias.back(), expected["bias"]);
      ++compared;
    }
    const DegreeAllotment best = best_allotment(costs, least, most, total);
    CHECK(std::ssize(best.columns) == entry["p_star"].get<int64_t>());
  }
  CHECK(compared > 400);
  CHECK(worst <= 1);
}

/// The least sum of variances of degrees n, ..., p with `left` columns.
double least_of_all(const DegreeCosts& costs, int64_t n, int64_t p, int64_t left) {
  if (n > p) return left == 0 ? 0 : kInfinity;
  if (!costs.sketched[n - 1]) return least_of_all(costs, n + 1, p, left);
  double least = kInfinity;
  for (int64_t D = 1; D <= left; ++D)
    least = std::min(
        least, feature::degree_variance(costs, n, D) + least_of_all(costs, n + 1, p, left - D));
  return least;
}

TEST_CASE("degree allotment: no other is better") {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Matrix<double> drawn = random_matrix(2, 4, seed);
    DegreeCosts costs{{{}, {}, {1, 1, 1, 1, 0}}, 4, {true, seed % 3 != 1, true, true}};
    for (int64_t n = 0; n < 4; ++n) {
      // Covariances of either sign; a block of four has no negative variance.
      const double V = 1 + drawn(0, n);
      costs.error.variance.push_back(V);
      costs.error.covariance.push_back(drawn(1, n) > 0 ? drawn(1, n) * V : drawn(1, n) * V / 3);
    }
    for (const int64_t total : {4, 9, 17}) {
      const DegreeAllotment got = allot_degrees(costs, 4, total);
      const double least = least_of_all(costs, 1, 4, total);
      INFO(seed << ' ' << total);
      CHECK(std::accumulate(got.columns.begin(), got.columns.end(), int64_t{0}) == total);
      CHECK(std::fabs(got.error() - least) <= 1e-14 * least);
    }
  }
}

TEST_CASE("degree allotment: ties go to the lowest degree, and too few columns are refused") {
  const DegreeCosts even{{{1, 1, 1}, {0, 0, 0}, {1, 1, 1, 1}}, 4, {true, true, true}};
  CHECK(allot_degrees(even, 3, 4).columns == std::vector<int64_t>{2, 1, 1});
  CHECK(allot_degrees(even, 3, 5).columns == std::vector<int64_t>{2, 2, 1});
  CHECK(best_allotment(even, 1, 3, 6).columns == std::vector<int64_t>{6});
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, best_allotment(even, 2, 3, 1),
                "1 columns for degrees 1 to 2");
}

TEST_CASE("random degrees: counts are binomial, also of more columns than are drawn") {
  // mu = 4/7, 2/7, 1/7 over degrees 1 to 3; of a million columns 2^16 are drawn.
  constexpr double kShares[] = {4.0 / 7, 2.0 / 7, 1.0 / 7};
  constexpr uint64_t kSeeds = 1000;
  const double z = z_threshold(kFailure, 12);
  for (const int64_t D : {50, 1000000}) {
    const feature::RandomDegrees degrees({{1, 1.0}, {2, 0.5}, {3, 2.0}}, D, 1);
    const double drawn = std::min(static_cast<double>(D), 65536.0);
    std::vector<double> counts[3];
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const std::vector<int64_t> drawn_now = degrees.draw(seed);
      for (size_t n = 0; n < 3; ++n) counts[n].push_back(static_cast<double>(drawn_now[n]));
    }
    for (size_t n = 0; n < 3; ++n) {
      const double mean = static_cast<double>(D) * kShares[n];
      // At most three columns more are drawn, by shares that differ by as little.
      const double variance = drawn * kShares[n] * (1 - kShares[n]);
      const double fourth = 3 * variance * variance + variance;
      CHECK(std::fabs(degrees.mu(n) - kShares[n]) <= 1e-15);
      CHECK(std::fabs(mean_z_score(counts[n], mean, variance)) <= z);
      CHECK(std::fabs(variance_z_score(counts[n], mean, variance, fourth)) <= z);
    }
  }
}

TEST_CASE("random degrees: the reference distribution where degrees 0 and 1 are kept exactly") {
  for (const Reference& entry : oracle("maclaurin")["random_maclaurin"]) {
    const bool ends = entry.contains("truncated_at");
    const auto expected = entry[ends ? "mu" : "mu_first_10_sampled"].get<std::vector<double>>();
    const int64_t first = std::ssize(entry["kept_exact"].get<std::vector<int64_t>>());
    std::vector<feature::SeriesTerm> terms;
    for (int64_t n = first; n <= (ends ? entry["truncated_at"].get<int64_t>() : 64); ++n)
      terms.push_back({n, 1.0});
    const feature::RandomDegrees degrees(terms, 10, 1);
    for (size_t i = 0; i < expected.size(); ++i)
      CHECK(std::fabs(degrees.mu(i) - expected[i]) <= 1e-15);
  }
}

TEST_CASE("random degrees: chances in proportion to powers of any base") {
  const feature::RandomDegrees thirds({{1, 1.0}, {2, 0.5}, {4, 2.0}}, 50, 1, 3);
  CHECK(thirds.mu(0) == Approx(27.0 / 37).epsilon(1e-15));
  CHECK(thirds.mu(1) == Approx(9.0 / 37).epsilon(1e-15));
  CHECK(thirds.mu(2) == Approx(1.0 / 37).epsilon(1e-15));
  const feature::RandomDegrees steep({{1, 1.0}, {1000, 1.0}}, 50, 1, 1e6);
  CHECK((steep.mu(0) == 1 && steep.mu(1) > 0 && steep.mu(1) < 1e-300));
}

TEST_CASE("random degrees: the variance of columns in blocks is that of every number of columns") {
  const feature::PairMoments pair = feature::exact_pair({0.7, 1.1, 0.2});
  const auto& stacked = *projection::sketch_kind("stacked");
  const std::vector<feature::SeriesTerm> terms = {{1, 1.0}, {2, 0.5}, {4, 0.2}};
  const auto of = [&](size_t term, int64_t k) {
    const std::vector<feature::PairMoments> factors(static_cast<size_t>(terms[term].degree), pair);
    return feature::real_variance(stacked.moments(false, k, 8, factors));
  };
  for (const int64_t D : {1, 5, 60, 100000}) {
    const double blocks = feature::RandomDegrees(terms, D, 8).variance(0.7, 1.1, of);
    const double plain = feature::RandomDegrees(terms, D, 0).variance(0.7, 1.1, of);
    // The variance of many columns is a difference of numbers of order 1.
    CHECK(std::fabs(blocks - plain) <= 1e-11 * plain + 1e-15);
  }
}

}  // namespace degree_allotment_test
