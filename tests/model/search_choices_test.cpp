// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a search chooses beside lengthscales: transforms of inputs, features, those of sums.
#include "model/search/search.h"
#include "model_problem.h"
#include "spec/spec.h"
#include "statistic/metrics.h"
#include "support/catch.h"
#include "support/partial_map.h"

namespace search_choices_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

/// A plane, and an effect of each group of three rows that are close to one another: few rows of
/// many show the plane alone.
Problem plane_and_groups(int64_t n, uint64_t seed) {
  constexpr int64_t d = 8;
  const int64_t groups = n / 3;
  const Matrix<double> centres = random_matrix(groups, d, 900),
                       effects = random_matrix(groups, 1, 901);
  Problem problem{random_matrix(n, d, seed), random_matrix(n, 1, seed + 1)};
  for (int64_t i = 0; i < n; ++i) {
    const int64_t g = i % groups;
    double plane = 0;
    for (int64_t j = 0; j < d; ++j) {
      plane += centres(g, j) / std::sqrt(8.0);
      problem.X(i, j) = centres(g, j) + 0.1 * problem.X(i, j);
    }
    problem.Y(i, 0) = plane + effects(g, 0) + 0.5 * problem.Y(i, 0);
  }
  return problem;
}

// With 4,096 columns a coarse trial has 328 of these rows: in some draws it sees the plane alone,
// and walks so far that the fine walk did not return (R^2 .70 for .80).
TEST_CASE("more features than rows do not lengthen a lengthscale past the details", "[slow]") {
  constexpr int64_t n = 1311;
  for (const uint64_t seed : {71, 171, 271, 371}) {
    CAPTURE(seed);
    const Problem train = plane_and_groups(n, seed), fresh = plane_and_groups(n, seed + 2);
    const auto score = [&](int64_t features) {
      SearchOptions options;
      options.features = features;
      options.assess = false;
      options.per_input = PerInput::off;
      const Model model = search(OneLengthscale(8, 5), options, train);
      return statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view());
    };
    CHECK(score(4096) > score(1024) - 0.02);
  }
}

TEST_CASE("of few rows a linear kernel is kept where nothing is better by an error") {
  SearchOptions options;
  options.choose_transform = true;
  options.given_features = false;
  int64_t linear = 0;
  for (const uint64_t seed : {1, 2, 3, 4}) {
    Problem plane{random_matrix(30, 3, seed), random_matrix(30, 1, seed + 50)};
    for (int64_t i = 0; i < 30; ++i) plane.Y(i, 0) += plane.X(i, 0) - plane.X(i, 1);
    const auto maps = partial_map(Parameters{}, 3, 0);
    const Model model = test::search(*maps, options, plane);
    linear += model.report.kernel == "polynomial";
    CHECK(std::isfinite(model.report.assessment.score));
    // What is not linear is not taken for it, nor is a kernel that was given.
    const Problem waves = smooth_problem(60, 3, 1, 0.05, seed);
    CHECK(test::search(*maps, options, waves).report.kernel != "polynomial");
  }
  CHECK(linear >= 3);  // a wrong one is better by an error now and then
}

/// x_j -> exp(4 x_j): a skewness of 2.
Problem skewed(Problem problem) {
  for (int64_t i = 0; i < problem.X.rows(); ++i)
    for (int64_t j = 0; j < problem.X.cols(); ++j) problem.X(i, j) = std::exp(4 * problem.X(i, j));
  return problem;
}

Model searched(const Problem& problem, bool choose) {
  SearchOptions options;
  options.features = 128;
  options.choose_transform = choose;
  return search(OneLengthscale{3, 5}, options, problem);
}

TEST_CASE("a search transforms inputs where that wins, by leave-one-out and on held-out rows") {
  for (const int64_t n : {400, 4000}) {
    const Problem problem = skewed(smooth_problem(n, 3, 1, 0.3, 71));
    const Problem fresh = skewed(smooth_problem(4000, 3, 1, 0.0, 72));
    const Model plain = searched(problem, false), chosen = searched(problem, true);
    CHECK(plain.report.transform == Transform::none);
    CHECK(chosen.report.transform != Transform::none);
    CHECK(chosen.fit.prepare.transform == chosen.report.transform);
    CHECK(!chosen.preparation.curves.empty());
    const double before = statistic::r_squared(fresh.y(), predictions(plain, fresh.x()).view());
    const double after = statistic::r_squared(fresh.y(), predictions(chosen, fresh.x()).view());
    // What the plain fit misses of noiseless targets is at least halved.
    CHECK(1 - after < 0.5 * (1 - before));
  }
}

TEST_CASE("uniform inputs stay as they are") {
  const Model model = searched(smooth_problem(400, 3, 1, 0.3, 73), true);
  CHECK(model.report.transform == Transform::none);
  CHECK(model.preparation.curves.empty());
}

// Positive, for additive_chi2.
Problem positive_rows(int64_t n, int64_t d) {
  Problem problem{random_matrix(n, d, 3), Matrix<double>(n, 1)};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < d; ++j) problem.X(i, j) = std::exp(problem.X(i, j));
    problem.Y(i, 0) = std::log(problem.X(i, 0)) + problem.X(i, d - 1);
  }
  return problem;
}

Model searched(const std::string& parts, int64_t n, int64_t d, int64_t D) {
  const Problem problem = positive_rows(n, d);
  const auto maker =
      test::map_maker(R"({"kernel":{"kernel":"sum","parts":[)" + parts + "]}}", d, 1);
  SearchOptions options;
  options.features = D;
  options.assess = false;
  options.fit.estimate.precision = feature::Precision::f32;
  return search(*maker, options, problem);
}

const std::string kGaussian = R"({"kernel":"gaussian"})", kChi2 = R"({"kernel":"additive_chi2"})",
                  kDot = R"({"kernel":"dot_product","coefficients":[1,1]})";

TEST_CASE("searches with sums: the nearest number of features to the one asked for") {
  struct Case {
    int64_t n, d, D;
  };
  for (const Case& c : {Case{300, 3, 250}, Case{300, 4, 251}, Case{4000, 3, 601},
                        Case{4000, 4, 602}, Case{4000, 2, 602}}) {
    INFO(c.n << " rows, " << c.d << " inputs, D = " << c.D);
    for (const std::string& fixed : {kChi2, kChi2 + "," + kGaussian}) {
      const int64_t features = searched(kGaussian + "," + fixed, c.n, c.d, c.D).map->features();
      CHECK(features <= c.D);
      CHECK(features > c.D - 2);
    }
  }
}

TEST_CASE("searches with sums: no more landmarks than rows") {
  const Model model = searched(kGaussian + "," + kDot, 300, 2, 2048);
  CHECK(model.map->features() == 602);
  REQUIRE(!model.report.warnings.empty());
  CHECK(model.report.warnings[0].find("602 features, not 2048") != std::string::npos);
  CHECK(searched(kDot + "," + kChi2, 300, 3, 100).map->features() == 100);
}

SearchOptions options_of(int64_t most) {
  SearchOptions options;
  options.features = 1024;
  options.most_features = most;
  options.assess = false;
  return options;
}

Model searched(const Problem& problem, const SearchOptions& options) {
  return search(OneLengthscale{3}, options, problem);
}

/// D of the fits to all rows that choose, the last that of the model.
std::vector<int64_t> curve_of(const Model& model) {
  std::vector<int64_t> features;
  for (const SearchCandidate& trial : model.report.trials)
    if (trial.stage == 4 || (trial.stage == 3 && trial.rows > 2700))
      if (features.empty() || features.back() != trial.features) features.push_back(trial.features);
  return features;
}

bool warns(const Model& model, const std::string& words) {
  return std::ranges::any_of(model.report.warnings, [&](const std::string& text) {
    return text.find(words) != std::string::npos;
  });
}

TEST_CASE("features are doubled while rows held out gain by it") {
  const Problem rough = rough_problem(3100, 0.1, 11);
  const Model one = searched(rough, options_of(0)), two = searched(rough, options_of(2048));
  CHECK(curve_of(one) == std::vector<int64_t>{512, 1024});
  CHECK(curve_of(two) == std::vector<int64_t>{512, 1024, 2048});
  CHECK(two.map->features() == 2048);
  const Problem more = rough_problem(6000, 0.1, 11);  // the same rows first
  const auto fresh = [&](const Model& model) {
    const Matrix<double> predicted = predictions(model, more.x().block_rows(3100, 6000));
    return statistic::r_squared(more.y().block_rows(3100, 6000), predicted.view());
  };
  CHECK(fresh(two) > fresh(one));
  CHECK(warns(one, "1024 features are few"));
  CHECK(warns(one, "(features = 2048: four times"));
  CHECK(!warns(two, "features are few"));  // more than there are rows are not asked for

  const Model smooth = searched(smooth_problem(3100, 3, 1, 0.5, 12), options_of(2048));
  CHECK(curve_of(smooth) == std::vector<int64_t>{512, 1024});
  CHECK(!warns(smooth, "features are few"));
}

TEST_CASE("twice the features are looked at where their gain is within its error") {
  // Noise of two and three times the signal's amplitude: 310 rows held out do not tell the gain of
  // 1,024 over 512 columns from none to two errors, and 2,048 gain more than one error, or not.
  const Model kept = searched(rough_problem(3100, 2, 11), options_of(2048));
  CHECK(curve_of(kept) == std::vector<int64_t>{512, 1024, 2048});
  CHECK(kept.map->features() == 2048);
  const Model given_back = searched(rough_problem(3100, 3, 11), options_of(2048));
  CHECK(curve_of(given_back) == std::vector<int64_t>{512, 1024, 2048, 1024});
  CHECK(given_back.map->features() == 1024);
  CHECK(!warns(given_back, "features are few"));
}

TEST_CASE("no curve of squares is asked for where these are not all that is fitted") {
  Problem rough = rough_problem(3100, 0.1, 13);
  SearchOptions options = options_of(2048);
  options.lambda = 1e-6;
  CHECK(curve_of(searched(rough, options)) == std::vector<int64_t>{1024});
  options.lambda = -1;
  for (int64_t i = 0; i < 3100; ++i) rough.Y(i, 0) = rough.Y(i, 0) > 0 ? 1 : 0;
  options.fit.coding = {Task::classification, 2};
  CHECK(curve_of(searched(rough, options)) == std::vector<int64_t>{1024});  // logistic is tried
  options.estimator = Estimator::ridge;
  CHECK(curve_of(searched(rough, options)).front() == 512);
}

}  // namespace search_choices_test
