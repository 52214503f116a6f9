// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The search on functions drawn from a Gaussian process of known lengthscale.
#include "model/search/search.h"

#include <dlfcn.h>

#include "model_problem.h"
#include "random/distributions.h"
#include "support/fit.h"
#include "support/refusal.h"

namespace search_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

const OneLengthscale kMaps(2, 5);

/// y = z(x)'v + noise, v ~ N(0, I): nearly a Gaussian process of that lengthscale, inputs uniform
/// on (-range, range)^2.
Problem process_sample(int64_t n, double lengthscale, double range, double noise, uint64_t seed) {
  Problem problem{random_matrix(n, 2, seed), random_matrix(n, 1, seed + 1)};
  for (int64_t i = 0; i < 2 * n; ++i) problem.X.data()[i] *= range;
  const Matrix<double> Z =
      plain_features(*gaussian_map(2, 512, lengthscale, seed + 2), problem.x(), {});
  std::vector<double> v(512);
  random::fill_normal(random::Stream(seed, random::Tag::generated, 0), 0, v);
  for (int64_t i = 0; i < n; ++i) {
    double f = 0;
    for (int64_t j = 0; j < 512; ++j) f += Z(i, j) * v[j];
    problem.Y(i, 0) = f + noise * problem.Y(i, 0);
  }
  return problem;
}

std::vector<SearchCandidate>* candidates_of(void* user) {
  return static_cast<std::vector<SearchCandidate>*>(user);
}

SearchOptions options_for(std::vector<SearchCandidate>& candidates) {
  SearchOptions options;
  options.features = 256;
  options.assess = false;
  options.fit.prepare.standardize = false;
  options.user = &candidates;
  options.report = [](void* user, const SearchCandidate& c) { candidates_of(user)->push_back(c); };
  return options;
}

double lengthscale_of(const Model& model) { return model.map->kernel().lengthscale()[0]; }

TEST_CASE("search finds the lengthscale of a Gaussian process to within its last steps") {
  // Held-out error is flat within a factor of about 2 of the truth; further off it is not. The
  // median heuristic starts at about 1.1 x range, a factor of 9 and of 2 away.
  double worst = 0;
  for (const double truth : {0.5, 2.0}) {
    const Problem problem = process_sample(1500, truth, 4.0, 0.1, 81);
    std::vector<SearchCandidate> candidates;
    const Model model = search(kMaps, options_for(candidates), problem);
    worst = std::max(worst, std::abs(std::log2(lengthscale_of(model) / truth)));
  }
  CHECK(worst <= 1.3);
}

TEST_CASE("what search reports is what it did") {
  const Problem problem = process_sample(1500, 1.0, 4.0, 0.1, 82);
  std::vector<SearchCandidate> candidates;
  SearchOptions options = options_for(candidates);
  const Model model = search(kMaps, options, problem);
  REQUIRE(candidates.size() >= 7);  // start, both ways by 2, both by 2^(1/2), all rows
  int wrong = 0;
  for (size_t k = 0; k < candidates.size(); ++k) {
    const SearchCandidate& c = candidates[k];
    wrong += k > 0 && c.stage < candidates[k - 1].stage;
    wrong += c.features != 256 || c.rows != 1500;
    wrong += !(c.score > 0 && c.score < 2) || !(c.lambda > 0) || !(c.seconds >= 0);
    wrong += (c.stage == 4) != (k + 1 == candidates.size());
  }
  CHECK(wrong == 0);
  const SearchCandidate& last = candidates.back();
  CHECK(last.lengthscale == lengthscale_of(model));
  CHECK(last.lambda == model.fit.select.lambda);
  CHECK(model.rows == 1500);
  CHECK(model.fit.select.selection == Selection::leave_one_out);
  int found = 0;
  double least = INFINITY;
  for (const PathPoint& point : model.path) {
    found += point.lambda == last.lambda && point.score == last.score;
    least = std::min(least, point.score);
  }
  CHECK(found == 1);
  CHECK(last.score <= 1.1 * least);  // within an error of the best
  CHECK(model.report.trials.size() == candidates.size());
  CHECK(model.report.lambda == last.lambda);
  CHECK(model.report.assessment.kind == AssessmentRows::none);
}

TEST_CASE("the model of a search is a fit on all rows with what was chosen") {
  const Problem problem = process_sample(900, 1.0, 4.0, 0.1, 83);
  double worst = 0;
  for (const int64_t D : {256, 1024}) {  // primal, dual
    std::vector<SearchCandidate> candidates;
    SearchOptions options = options_for(candidates);
    options.features = D;
    options.lambda =
        1e-4;  // well conditioned, so that two routes can be compared: 1e-16 x D / lambda < 1e-8
    options.fit.estimate.precision = feature::Precision::f64;
    const Model model = search(kMaps, options, problem);
    FitOptions fixed = options.fit;
    fixed.select.selection = Selection::fixed;
    fixed.select.lambda = model.fit.select.lambda;
    const Model again = fit(model.map, fixed, problem);
    CHECK(model.fit.select.lambda == 1e-4);
    CHECK(model.fit.select.selection == Selection::fixed);
    worst = std::max(worst, largest_difference(predictions(model, problem.x()),
                                               predictions(again, problem.x())));
  }
  CHECK(worst < 1e-8);
}

TEST_CASE("a search is a function of the seed") {
  const Problem problem = process_sample(700, 1.0, 4.0, 0.1, 84);
  const auto run = [&](uint64_t seed) {
    std::vector<SearchCandidate> candidates;
    SearchOptions options = options_for(candidates);
    options.fit.select.seed = seed;
    options.assess = true;  // whose folds are the only draws here
    const Model model = search(kMaps, options, problem);
    std::vector<double> numbers{model.report.assessment.score};
    for (const SearchCandidate& c : candidates) {
      numbers.insert(numbers.end(), {c.lengthscale, c.lambda, c.score});
    }
    return numbers;
  };
  const std::vector<double> one = run(7);
  CHECK(one == run(7));
  CHECK(one != run(8));
}

/// OpenBLAS's own functions, which tests do not link; null with another BLAS.
template <class Function>
Function* of_blas(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

TEST_CASE("threads change no bit of a search, and those of BLAS none of its choices") {
  // With a lengthscale for each input, whose descent takes some hundred steps.
  Problem problem = smooth_problem(700, 3, 1, 0.3, 85);
  const PartialMap maker = gaussian_maps(3, 0);
  const auto run = [&](int threads) {
    Context context;
    context.threads = threads;
    SearchOptions options = choosing_transforms();
    return test::search(maker, options, problem.x(), problem.y(), context);
  };
  const Model one = run(1);
  REQUIRE(std::ranges::count(one.report.trials, 2, &SearchCandidate::stage) > 0);
  for (const int threads : {2, 5})
    CHECK(largest_difference(predictions(run(threads), problem.x()),
                             predictions(one, problem.x())) == 0);
  auto* const set = of_blas<void(int)>("openblas_set_num_threads");
  auto* const get = of_blas<int()>("openblas_get_num_threads");
  if (set == nullptr || get == nullptr) return;
  const int usual = get();
  for (const int threads : {1, 2, 5}) {
    set(threads);
    const Model other = run(0);
    set(usual);
    REQUIRE(other.report.trials.size() == one.report.trials.size());
    int differ = 0;
    for (size_t k = 0; k < one.report.trials.size(); ++k) {
      const SearchCandidate &a = one.report.trials[k], &b = other.report.trials[k];
      // Rounding of 1e-16 by the conditioning of K + n lambda I.
      const double rounding = std::max(1e-6, 1e-16 / a.lambda);
      differ += a.stage != b.stage || a.features != b.features || a.transform != b.transform ||
                a.lambda != Approx(b.lambda).epsilon(1e-6) ||
                a.loss != Approx(b.loss).epsilon(rounding);
    }
    CHECK(differ == 0);
    // Rounding of 1e-16 by the conditioning of ZZ' + n lambda I, lambda >= 1e-8.
    CHECK(largest_difference(predictions(other, problem.x()), predictions(one, problem.x())) <
          1e-6);
  }
}

TEST_CASE("what is fixed is not searched") {
  const Problem problem = process_sample(700, 1.0, 4.0, 0.1, 85);
  std::vector<SearchCandidate> candidates;
  SearchOptions options = options_for(candidates);
  options.lengthscale = 1.7;
  const Model fixed = search(kMaps, options, problem);
  CHECK(candidates.size() == 1);  // every lambda by leave-one-out of all rows
  CHECK(lengthscale_of(fixed) == 1.7);

  candidates.clear();
  options.lambda = 1e-3;
  const Model both = search(kMaps, options, problem);
  CHECK(candidates.size() == 1);
  CHECK(both.fit.select.lambda == 1e-3);

  candidates.clear();
  options.lengthscale = 0;
  options.lambda = -1;
  search(maps_of("tensor_srht", {{"kernel", "polynomial"}, {"degree", int64_t{2}}}, 2), options,
         problem);
  CHECK(candidates.size() == 1);
  CHECK(candidates[0].lengthscale == 0);
}

TEST_CASE("search copes with few rows, equal rows and several outputs") {
  Problem problem = smooth_problem(60, 3, 2, 0.1, 86);
  for (int64_t i = 10; i < 60; ++i) {  // most pairs of rows are equal: their median distance is 0
    for (int64_t j = 0; j < 3; ++j) problem.X(i, j) = problem.X(0, j);
  }
  const OneLengthscale maker(3, 5);
  SearchOptions options;
  options.features = 128;
  Context context;
  const Model model = search(maker, options, problem);
  CHECK(model.outputs() == 2);
  CHECK(lengthscale_of(model) > 0);
  CHECK_NOTHROW(
      search(maker, options, problem.x().block_rows(0, 2), problem.y().block_rows(0, 2), context));
}

TEST_CASE("a search of classes keeps logistic regression where it foresees better", "[loss]") {
  // Steep probabilities of a smooth function: calibrated least squares levels off.
  const int64_t n = 3600;
  const Problem problem = smooth_problem(n, 3, 1, 0, 51);
  const Matrix<double> uniform = random_matrix(n, 1, 52);
  for (int64_t i = 0; i < n; ++i)
    problem.Y(i, 0) = (uniform(i, 0) + 1) / 2 < 1 / (1 + std::exp(-40 * problem.Y(i, 0))) ? 1 : 0;
  const OneLengthscale maker(3, 5);
  std::vector<SearchCandidate> candidates;
  for (const bool assess : {false, true}) {
    SearchOptions options = options_for(candidates);
    options.features = 64;
    options.assess = assess;
    options.fit.coding.task = Task::classification;
    options.fit.coding.classes = 2;
    const Model model = search(maker, options, problem);
    CHECK(model.fit.estimate.entry == &logistic_model());
    CHECK(!model.calibration.empty());
    CHECK(model.fit.select.lambda == candidates.back().lambda);
    options.estimator = Estimator::ridge;
    const Model ridge = search(maker, options, problem);
    CHECK(ridge.fit.estimate.entry == &ridge_model());
    CHECK(!ridge.calibration.empty());
    if (assess) CHECK(model.report.assessment.score > 0.8);
  }
  SearchOptions regression = options_for(candidates);
  regression.estimator = Estimator::logistic;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, search(maker, regression, problem),
                "model = \"logistic\" in a search of a regression");
}

TEST_CASE("few rows have more features by default, where there is room") {
  Context context;
  CHECK(default_features(400, 2000, context) == 4096);
  CHECK(default_features(2000, 784, context) == 4096);
  CHECK(default_features(2049, 10, context) == 2048);
  CHECK(default_features(100, 8192, context) == 4096);
  CHECK(default_features(100, 100000, context) == 2048);
  context.memory_cap = int64_t{40} << 20;
  CHECK(default_features(400, 2000, context) == 4096);
  CHECK(affordable_features(5000, 10, context) == 2048);
}

TEST_CASE("a search goes up to the features that 2^38 multiply-adds allow") {
  Context context;
  CHECK(affordable_features(16384, 10, context) == 4096);
  CHECK(affordable_features(16385, 10, context) == 2048);
  CHECK(affordable_features(int64_t{1} << 30, 10, context) == 2048);
  CHECK(affordable_features(8192, 10000, context) == 2048);
}

/// y = w'x of many independent inputs.
Problem wide_problem(int64_t n, int64_t d) {
  Problem problem{random_matrix(n, d, 85), random_matrix(n, 1, 86)};
  const std::vector<double> w(d, 1.0);
  for (int64_t i = 0; i < n; ++i) problem.Y(i, 0) = linalg::dot({problem.x().row(i), w.size()}, w);
  return problem;
}

TEST_CASE("of many inputs a default search finds what is linear in them") {
  // n rows explain n/d of a linear function of other rows.
  const int64_t n = 200, d = 1025;
  const Problem problem = wide_problem(n + 500, d);
  const auto rows = [&](const Matrix<double>& of, int64_t first, int64_t count) {
    return MatrixView<const double>(of.view().row(first), count, of.cols());
  };
  SearchOptions options;
  options.given_features = false;
  options.assess = false;
  Context context;
  const Model model =
      search(maps_of("fourier", {{"kernel", "gaussian"}}, d, 0, {{"projection", "sorf"}}), options,
             rows(problem.X, 0, n), rows(problem.Y, 0, n), context);
  const Matrix<double> found = predictions(model, rows(problem.X, n, 500));
  double error = 0, squares = 0;
  for (int64_t i = 0; i < 500; ++i) {
    error += std::pow(found(i, 0) - problem.Y(n + i, 0), 2);
    squares += std::pow(problem.Y(n + i, 0), 2);
  }
  CHECK(1 - error / squares > 0.75 * n / d);
}

}  // namespace search_test
