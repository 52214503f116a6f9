// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lengthscales: where a search begins, and one for each input.
#include "feature/fourier.h"
#include "kernel/median_heuristic.h"
#include "model/prepare/row_coding.h"
#include "model/rows/median_lengthscale.h"
#include "model/search/ard.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "statistic/metrics.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/made_map.h"
#include "support/map_calls.h"
#include "support/refusal.h"
#include "support/statistic.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace mercer::test::per_input_test {
namespace {

constexpr int64_t kNumbers = int64_t{1} << 29;  // as the header says
constexpr int64_t kAll = 499500;                // pairs of 1000 rows

std::vector<int64_t> all_rows(int64_t n) {
  std::vector<int64_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Rows of lengths that vary, so that distances do: with d alike columns alone all would be equal.
Matrix<double> spread_rows(int64_t n, int64_t d) {
  Matrix<double> X = random_matrix(n, d, 12);
  for (int64_t i = 0; i < n; ++i) {
    const double length = 0.5 + static_cast<double>(i % 97) / 50;
    for (int64_t j = 0; j < d; ++j) X(i, j) = X(i, j) * length + 3;
  }
  return X;
}

double central(const Matrix<double>& X, uint64_t seed, Context& context) {
  const MatrixView<const double> view = X.view();
  return model::median_lengthscale(test::fit_standardizer(view), view, all_rows(X.rows()), seed,
                                   context);
}

Matrix<double> standardized(const Matrix<double>& X) {
  const auto preparation = test::fit_standardizer(MatrixView<const double>(X.view()));
  Matrix<double> out(X.rows(), X.cols());
  for (int64_t i = 0; i < X.rows(); ++i)
    model::prepare_row(preparation, MatrixView<const double>(X.view()), i, out.view().row(i));
  return out;
}

}  // namespace

TEST_CASE("the numbers compared are bounded whatever the width") {
  CHECK(model::median_pairs(100000, 1) == kAll);
  CHECK(model::median_pairs(1000, 1074) == kAll);
  CHECK(model::median_pairs(100, 100000) == 4950);
  CHECK(model::median_pairs(2, 1 << 30) == 1);
  CHECK(model::median_pairs(1, 10) == 0);
  for (const int64_t d : {1075, 10000, 99999, 500000}) {
    CAPTURE(d);
    CHECK(model::median_pairs(3000, d) < kAll);
    CHECK(model::median_pairs(3000, d) * d <= kNumbers);
    CHECK((model::median_pairs(3000, d) + 1) * d > kNumbers);  // and what is allowed is used
  }
  CHECK(model::median_pairs(3000, 100000000) == 1000);
}

TEST_CASE("narrow rows start from the median of all pairs of a sample, as ever") {
  const Matrix<double> X = spread_rows(200, 6);
  Context context;
  CHECK(central(X, 3, context) ==
        kernel::median_heuristic(standardized(X).view(), kAll, 3, context));
}

// Drawn pairs are independent, so the rank of their median among all pairs is 1/2 within the
// distance of Dvoretzky, Kiefer and Wolfowitz.
TEST_CASE("wide rows start from a median that drawn pairs estimate") {
  const int64_t n = 400, d = 7000;
  const int64_t drawn = model::median_pairs(n, d);
  REQUIRE(drawn < n * (n - 1) / 2);
  const Matrix<double> X = spread_rows(n, d);
  Context context;
  const double found = central(X, 3, context);
  const Matrix<double> rows = standardized(X);
  int64_t below = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < d; ++k) sum += (rows(i, k) - rows(j, k)) * (rows(i, k) - rows(j, k));
      below += std::sqrt(sum) <= found;
    }
  }
  const double rank = static_cast<double>(below) / (static_cast<double>(n) * (n - 1) / 2);
  CHECK(std::fabs(rank - 0.5) <= ks_threshold(drawn) + 1.0 / static_cast<double>(drawn));
  CHECK(central(X, 4, context) != found);
  for (const int threads : {1, 7}) {
    Context other;
    other.threads = threads;
    CHECK(central(X, 3, other) == found);
  }
}

TEST_CASE("drawn pairs take the memory of pairs") {
  const Matrix<double> X = spread_rows(200, 27000);
  const MatrixView<const double> view = X.view();
  REQUIRE(model::median_pairs(200, 27000) == 19884);
  Context capped;
  capped.memory_cap = 24 * 19884;
  CHECK(model::median_lengthscale({}, view, all_rows(200), 0, capped) > 0);
  capped.memory_cap -= 1;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, model::median_lengthscale({}, view, all_rows(200), 0, capped),
                "distances of pairs");
}

TEST_CASE("wide rows that are equal, or too far apart to say") {
  const int64_t n = 200, d = 27000;
  Matrix<double> X(n, d);
  X.fill(1);
  X(0, 5) = 2;
  Context context;
  CHECK(central(X, 0, context) == std::sqrt(2.0 * static_cast<double>(d)));
  for (int64_t i = 0; i < n; ++i) X(i, 0) = 1e160 * static_cast<double>(i);
  const MatrixView<const double> view = X.view();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                model::median_lengthscale({}, view, all_rows(n), 0, context), "median", "inf");
}

}  // namespace mercer::test::per_input_test

namespace {

/// y = sin(2 x_0) + x_1 x_2 + noise of 20 inputs; rows of unit variance.
test::Problem three_of_twenty(int64_t n, uint64_t seed) {
  test::Problem problem = test::smooth_problem(n, 20, 1, 0.05, seed);
  for (int64_t k = 0; k < n * 20; ++k) problem.X.data()[k] *= std::sqrt(3.0);
  return problem;
}

Ard learnt(const test::Problem& problem, int threads = 1) {
  Context context;
  context.threads = threads;
  const auto map = test::gaussian_map(problem.X.cols(), 256);
  return learn_lengthscales(*map, problem.x(), problem.y(),
                            {.lengthscale = std::sqrt(2.0 * problem.X.cols())}, context);
}

}  // namespace

// Over seeds 1 to 20 the largest relevance of an input without effect was below 5e-5, all being
// dropped, and the least of one with effect 0.18.
TEST_CASE("ard: the three of twenty inputs that matter are found") {
  for (const uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    const Ard ard = learnt(three_of_twenty(600, seed));
    const std::vector<double> r = relevance(ard.lengthscale);
    CHECK(*std::max_element(r.begin(), r.end()) == 1);
    for (size_t j = 0; j < 20; ++j) {
      CAPTURE(j, ard.lengthscale[j]);
      CHECK((j < 3 ? r[j] > 0.1 : r[j] < 0.01));
    }
    CHECK(ard.lambda >= kLeastArdLambda);
  }
}

TEST_CASE("ard: by the kernel itself, too") {
  Context context;
  const test::Problem problem = three_of_twenty(300, 4);
  for (const double nu : {0.5, 1.5, 2.5, 0.0}) {
    CAPTURE(nu);
    const auto kernel = nu > 0 ? kernel::make_matern(nu, {1}, 1) : kernel::make_laplacian({1}, 1);
    const Ard ard = learn_lengthscales(*kernel, problem.x(), problem.y(),
                                       {.lengthscale = std::sqrt(nu > 0 ? 40.0 : 400.0)}, context);
    const std::vector<double> r = relevance(ard.lengthscale);
    for (size_t j = 0; j < 20; ++j) {
      CAPTURE(j, ard.lengthscale[j]);
      CHECK((j < 3 ? r[j] > 0.1 : r[j] < 0.02));
    }
  }
}

// y = sin 3 u + noise of u = (x_0 + x_1) / sqrt 2, beside which a third of the variance of x_0 - x_1
// and x_2 says nothing: A sees u.
TEST_CASE("a metric finds a direction that no input has") {
  Context context;
  test::Problem problem = test::smooth_problem(300, 3, 1, 0.05, 9);
  for (int64_t i = 0; i < 300; ++i)
    problem.Y(i, 0) += std::sin(3 * (problem.X(i, 0) + problem.X(i, 1)) / std::sqrt(2.0)) * 20;
  const LearntMetric learnt = learn_metric(*kernel::make_gaussian({1}, 1), problem.x(), problem.y(),
                                           {.lengthscale = 1, .most_iterations = 40}, context);
  const Matrix<double>& A = learnt.A;
  const auto length = [&](const std::vector<double>& x) {
    double squares = 0;
    for (int64_t i = 0; i < 3; ++i) {
      double u = 0;
      for (int64_t j = 0; j < 3; ++j) u += A(i, j) * x[j];
      squares += u * u;
    }
    return std::sqrt(squares / (x[0] * x[0] + x[1] * x[1] + x[2] * x[2]));
  };
  CHECK(length({1, 1, 0}) > 3 * length({1, -1, 0}));
  CHECK(length({1, 1, 0}) > 3 * length({0, 0, 1}));
}

TEST_CASE("ard: the same bits for every number of threads") {
  const test::Problem problem = three_of_twenty(400, 4);
  const Ard one = learnt(problem);
  for (const int threads : {2, 7}) {
    const Ard other = learnt(problem, threads);
    CHECK(other.lengthscale == one.lengthscale);
    CHECK(other.lambda == one.lambda);
  }
}

TEST_CASE("ard: a constant column is dropped, a constant target keeps all lengthscales") {
  test::Problem problem = three_of_twenty(200, 5);
  for (int64_t i = 0; i < 200; ++i) problem.X(i, 7) = 0;
  CHECK(learnt(problem).lengthscale[7] == kDroppedLengthscale);
  problem.Y.fill(2);
  const Ard start = learnt(problem);
  for (const double l : start.lengthscale) CHECK(l == Approx(std::sqrt(40.0)).epsilon(1e-12));
  CHECK((start.evaluations == 0 && start.dropped == 0));
}

// Of a plane without noise the likelihood has no longest lengthscale, of a level's own effect no
// shortest one.
TEST_CASE("ard: lengthscales are bounded by what rows are apart") {
  test::Problem problem = three_of_twenty(150, 6);
  for (int64_t i = 0; i < 150; ++i) {
    double* const x = problem.X.view().row(i);
    x[3] = static_cast<double>(i % 7) - 3;
    problem.Y(i, 0) = x[0] + 2 * x[1] + 5 * std::cos(100.0 * static_cast<double>(i % 7));
  }
  const Ard ard = learnt(problem);
  int64_t far = 0;
  for (int64_t j = 0; j < 20; ++j) {
    double least = problem.X(0, j), most = least;
    for (int64_t i = 0; i < 150; ++i) {
      least = std::min(least, problem.X(i, j));
      most = std::max(most, problem.X(i, j));
    }
    const double l = ard.lengthscale[static_cast<size_t>(j)];
    CAPTURE(j, l);
    CHECK((l == kDroppedLengthscale || l <= kLongest * (most - least) * (1 + 1e-9)));
    CHECK(l >= kShortest * (most - least) / 149 * (1 - 1e-9));
    if (j == 3) CHECK(l >= kShortest * (1 - 1e-9));  // the gap of its levels is 1
    far += l > 20;
  }
  CHECK(far > 0);
}

TEST_CASE("ard: a dropped input stays dropped whatever the factor") {
  for (const double factor : {0.25, 3.0})
    CHECK(relevance(scaled({2, kDroppedLengthscale}, factor)) == std::vector<double>{1, 0});
}

TEST_CASE("ard: relevance is the shortest lengthscale over each, 0 for dropped inputs") {
  const std::vector<double> l = {2, 8, kDroppedLengthscale};
  CHECK(relevance(l) == std::vector<double>{1, 0.25, 0});
}

namespace {

/// Features that are none of x/l: their exponents are drawn by laws of l.
PartialMap poisson_maps() { return maps_of("poisson", {{"kernel", "gaussian"}}, 6); }

/// y = sin(4 x_0) + noise, of six inputs.
Problem one_of_six(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 6, seed), random_matrix(n, 1, seed + 1)};
  for (int64_t i = 0; i < n; ++i)
    problem.Y(i, 0) = std::sin(4 * problem.X(i, 0)) + 0.2 * problem.Y(i, 0);
  return problem;
}

template <class Maps>
Model searched(const Maps& maps, const Problem& problem) {
  SearchOptions options;
  options.features = 200;
  options.assess = false;
  return search(maps, options, problem);
}

}  // namespace

TEST_CASE("a search finds the input that matters, and is better for it") {
  const Problem train = one_of_six(300, 41), fresh = one_of_six(1000, 43);
  const Model each = searched(gaussian_maps(6, 5), train);
  REQUIRE(each.map->kernel().lengthscale().size() == 6);
  REQUIRE(each.report.relevance.size() == 6);
  CHECK(each.report.relevance[0] == 1);
  for (size_t j = 1; j < 6; ++j) CHECK(each.report.relevance[j] < 0.5);
  CHECK(std::isnan(each.report.lengthscale));
  CHECK(each.report.trials.back().stage == 4);
  const Model one = searched(OneLengthscale(6, 5), train);
  CHECK(one.map->kernel().lengthscale().size() == 1);
  CHECK(one.report.relevance.empty());
  const double with = statistic::r_squared(fresh.y(), predictions(each, fresh.x()).view());
  CHECK(with > statistic::r_squared(fresh.y(), predictions(one, fresh.x()).view()) + 0.02);
  CHECK(with > 0.9);
}

/// y = sin(3 (x_0 + x_1)) + sin(3 (x_0 - x_1)) / 4 + noise.
Problem turned(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 3, seed), random_matrix(n, 1, seed + 1)};
  for (int64_t i = 0; i < n; ++i) {
    const double* const x = problem.X.view().row(i);
    problem.Y(i, 0) = std::sin(2.5 * (x[0] + x[1])) + 0.2 * (x[0] - x[1]) + 0.1 * problem.Y(i, 0);
  }
  return problem;
}

TEST_CASE("a search finds a metric where the function is turned, and is better for it") {
  const Problem train = turned(400, 81), fresh = turned(1000, 83);
  const auto score = [&](const auto& maps, const char* kernel) {
    SearchOptions options;
    options.features = 1024;
    options.assess = false;
    const Model model = search(maps, options, train);
    CHECK(model.map->kernel().name() == kernel);
    return statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view());
  };
  const double metric = score(maps_of("fourier", {{"kernel", "gaussian"}}, 3), "metric");
  CHECK(metric > score(OneLengthscale(3, 5), "gaussian") + 0.002);
}

TEST_CASE("missing inputs and constant ones have a relevance each") {
  Problem train = one_of_six(400, 47);
  for (int64_t i = 0; i < 400; ++i) {
    train.X(i, 2) = 5;
    if (i % 4 == 0) train.X(i, 3) = std::nan("");
  }
  SearchOptions options;
  options.features = 200;
  options.fit.prepare.missing = Missing::flag;  // of input 3
  const Model model = search(gaussian_maps(7, 5), options, train);
  REQUIRE(model.map->kernel().lengthscale().size() == 7);
  REQUIRE(model.report.relevance.size() == 6);
  CHECK(model.report.relevance[0] == 1);
  CHECK(model.report.relevance[2] == 0);
}

TEST_CASE("features that are none of x/l keep one lengthscale") {
  Problem train = one_of_six(300, 41);
  for (int64_t j = 0; j < 300 * 6; ++j) train.X.data()[j] *= 0.3;
  const Model model = searched(poisson_maps(), train);
  CHECK(model.map->kernel().lengthscale().size() == 1);
  CHECK(model.report.relevance.empty());
  SearchOptions options;
  options.features = 200;
  options.per_input = PerInput::on;
  CHECK_REFUSED(MERCER_UNSUPPORTED, search(poisson_maps(), options, train),
                "one lengthscale for all inputs");
}

TEST_CASE("targets that do not depend on the inputs keep one lengthscale") {
  Problem noise = one_of_six(200, 44);
  noise.Y = random_matrix(200, 1, 45);
  const Model model = searched(gaussian_maps(6, 5), noise);
  CHECK(model.map->kernel().lengthscale().size() == 1);
}

TEST_CASE("the model of a search with a lengthscale for each input is a fit with them") {
  const Problem train = one_of_six(300, 46);
  const Model model = searched(gaussian_maps(6, 5), train);
  REQUIRE(model.map->kernel().lengthscale().size() == 6);
  FitOptions fixed = model.fit;
  fixed.select.selection = Selection::fixed;
  const Model again = fit(model.map, fixed, train);
  CHECK(largest_difference(predictions(model, train.x()), predictions(again, train.x())) == 0);
}

TEST_CASE("many rows learn lengthscales under every transform whose walk came near") {
  constexpr int64_t n = 3600;
  Problem train = one_of_six(n, 61);
  for (int64_t i = 0; i < n; ++i) {
    const double noise = train.Y(i, 0) - std::sin(4 * train.X(i, 0));
    train.Y(i, 0) = train.X(i, 0) + 0.5 * std::sin(3 * train.X(i, 1)) + 12 * noise;
  }
  const SearchOptions options = choosing_transforms();
  const Model model = search(gaussian_maps(6, 5), options, train);
  std::map<Transform, double> walked;
  std::set<Transform> learnt, near = {model.report.trials[0].transform};
  for (const SearchCandidate& trial : model.report.trials) {
    if (trial.stage == 0)
      walked[trial.transform] =
          std::min(trial.loss, walked.try_emplace(trial.transform, 1e9).first->second);
    if (trial.stage == 2) learnt.insert(trial.transform);
  }
  REQUIRE(walked.size() == 2);  // no input is skewed: logarithms would leave all as they are
  const double least = std::min(walked[Transform::none], walked[Transform::rank]);
  if (walked[Transform::rank] <= 1.1 * least) near.insert(Transform::rank);
  CHECK(near.size() == 2);
  CHECK(learnt == near);
}

// One descent from the lengthscale for all lost the first two in each of these: R^2 .40 for .98.
TEST_CASE("inputs that matter by their product alone are found") {
  constexpr int64_t d = 8;
  const auto drawn = [](int64_t n, uint64_t seed) {
    Problem problem{random_matrix(n, d, seed), random_matrix(n, 1, seed + 1)};
    for (int64_t i = 0; i < n; ++i) {
      double* x = problem.X.view().row(i);
      for (int64_t j = 0; j < d; ++j) x[j] = std::erf(x[j] / std::sqrt(2.0));
      problem.Y(i, 0) = x[0] * x[1] + x[2] / 2 + 0.05 * problem.Y(i, 0);
    }
    return problem;
  };
  SearchOptions options;
  options.features = 1024;
  options.assess = false;
  options.per_input = PerInput::on;
  const Problem fresh = drawn(1000, 5);
  for (const uint64_t seed : {1, 3, 4, 7}) {
    CAPTURE(seed);
    const Problem train = drawn(400, seed);
    const Model model = search(gaussian_maps(d, 5), options, train);
    CHECK(statistic::r_squared(fresh.y(), predictions(model, fresh.x()).view()) > 0.97);
    for (size_t j = 3; j < d; ++j) CHECK(model.report.relevance[j] < 0.1);
  }
}

TEST_CASE("asked for, one lengthscale for all is kept and said where none for each is better") {
  Problem train = one_of_six(100, 71);  // of no noise: lambda has a floor in the likelihood alone
  for (int64_t i = 0; i < 100; ++i) {
    const double* x = train.X.view().row(i);
    train.Y(i, 0) = std::accumulate(x, x + 6, 0.0);
  }
  SearchOptions options;
  options.features = 100;
  options.assess = false;
  options.per_input = PerInput::on;
  const Model model = search(gaussian_maps(6, 5), options, train);
  REQUIRE(model.map->kernel().lengthscale().size() == 6);
  CHECK(model.report.relevance == std::vector<double>(6, 1.0));
  REQUIRE(!model.report.warnings.empty());
  CHECK(model.report.warnings[0].find("better than one for all") != std::string::npos);
}
