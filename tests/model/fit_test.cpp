// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fit against the explicit route: features, centring, normal equations. Both solve systems whose
// condition is at most n / (n lambda) = 1/lambda in the Euclidean norm, so they agree to about D
// eps / lambda; the tests allow 1e-8 of outputs of size 1. Targets far from zero, and constant ones.
#include <set>

#include "model/predict.h"
#include "model/rows/feature_rows.h"
#include "model/search/trial.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "support/catch.h"

namespace fit_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

constexpr double kBound = 1e-8;

FitOptions fixed_options(double lambda) {
  FitOptions options;
  options.select.selection = Selection::fixed;
  options.select.lambda = lambda;
  options.estimate.precision = feature::Precision::f64;
  return options;
}

TEST_CASE("fit is standardise, map, centre, solve") {
  // n = 5000 crosses the boundary of two blocks of rows.
  const Problem problem = smooth_problem(5000, 3, 2, 0.1, 3), test = smooth_problem(50, 3, 2, 0, 4);
  const auto map = gaussian_map(3, 32);
  for (const bool standardize : {true, false}) {
    FitOptions options = fixed_options(1e-4);
    options.prepare.standardize = standardize;
    const Model model = fit(map, options, problem);
    const Matrix<double> expected =
        plain_ridge(plain_features(*map, problem.x(), model.preparation), problem.Y, 5000 * 1e-4,
                    plain_features(*map, test.x(), model.preparation));
    CHECK(model.preparation.mean.size() == (standardize ? 3u : 0u));
    CHECK(largest_difference(predictions(model, test.x()), expected) < kBound);
  }
}

TEST_CASE("fewer rows than features go through the dual and agree with the primal") {
  const Problem problem = smooth_problem(90, 3, 2, 0.1, 5), test = smooth_problem(40, 3, 2, 0, 6);
  const auto map = gaussian_map(3, 128);
  FitOptions options = fixed_options(1e-4);
  options.prepare.extrapolation = Extrapolation::free;  // of few rows, some others lie outside
  const Model model = fit(map, options, problem);
  const Matrix<double> expected =
      plain_ridge(plain_features(*map, problem.x(), model.preparation), problem.Y, 90 * 1e-4,
                  plain_features(*map, test.x(), model.preparation));
  CHECK(largest_difference(predictions(model, test.x()), expected) < kBound);
}

TEST_CASE("without centring the intercept is zero, for either form") {
  const Problem problem = smooth_problem(90, 3, 2, 0.1, 7);
  for (const int64_t D : {32, 128}) {
    FitOptions options = fixed_options(1e-3);
    options.estimate.center = false;
    const Model model = fit(gaussian_map(3, D), options, problem);
    CHECK(linear_weights(model).intercept == std::vector<double>{0.0, 0.0});
    // The residual equation (Z'Z + n lambda) w = Z'Y, written as Z'(Y - Zw) = n lambda w.
    const Matrix<double> Z = plain_features(*model.map, problem.x(), model.preparation);
    Matrix<double> rest = copy(problem.y());
    linalg::multiply(-1.0, linalg::Transpose::no, Z.view(), linalg::Transpose::no,
                     linear_weights(model).w.view(), 1.0, rest.view());
    Matrix<double> gradient = copy(MatrixView<const double>(linear_weights(model).w.view()));
    linalg::multiply(1.0, linalg::Transpose::yes, Z.view(), linalg::Transpose::no, rest.view(),
                     -90 * 1e-3, gradient.view());
    CHECK(largest_difference(gradient, [&] {
            Matrix<double> zero(D, 2);
            zero.fill(0);
            return zero;
          }()) < kBound);
  }
}

TEST_CASE("rescaled inputs give the same predictions") {
  // Standardised inputs differ by a few eps times offset / deviation = 1000, features by that times
  // |omega|; weights are at most 1/lambda = 1e3 times as sensitive: 1e-16 x 1e3 x 10 x 1e3 = 1e-9.
  const Problem problem = smooth_problem(300, 3, 1, 0.1, 8), test = smooth_problem(40, 3, 1, 0, 9);
  const auto rescaled = [](const Matrix<double>& X) {
    Matrix<double> result = copy(MatrixView<const double>(X.view()));
    for (int64_t i = 0; i < X.rows(); ++i) {
      result(i, 0) = 1000 + X(i, 0);
      result(i, 1) = 1e-6 * X(i, 1);
      result(i, 2) = -3e8 * X(i, 2) + 1e9;
    }
    return result;
  };
  // A sign turned around is another map: turn the same sign in both.
  const auto turned = [](const Matrix<double>& X) {
    Matrix<double> result = copy(MatrixView<const double>(X.view()));
    for (int64_t i = 0; i < X.rows(); ++i) result(i, 2) = -X(i, 2);
    return result;
  };
  const auto map = gaussian_map(3, 64);
  const Matrix<double> A = turned(problem.X), B = rescaled(problem.X);
  Context context;
  const Model one =
      fit(map, fixed_options(1e-3), MatrixView<const double>(A.view()), problem.y(), context);
  const Model two =
      fit(map, fixed_options(1e-3), MatrixView<const double>(B.view()), problem.y(), context);
  CHECK(largest_difference(predictions(one, turned(test.X).view()),
                           predictions(two, rescaled(test.X).view())) < kBound);
}

TEST_CASE("a prediction does not depend on the rows around it") {
  // The block of features is the same bit for bit; the product may be summed in another order.
  const Problem problem = smooth_problem(5000, 3, 1, 0.1, 11);
  Context context;
  const Model model = fit(gaussian_map(3, 32), fixed_options(1e-4), problem);
  const Matrix<double> all = predictions(model, problem.x());
  Matrix<double> pieces(5000, 1);
  for (int64_t first = 0; first < 5000; first += 777) {
    const int64_t end = std::min<int64_t>(5000, first + 777);
    predict(model, problem.x().block_rows(first, end), context,
            pieces.view().block_rows(first, end));
  }
  CHECK(largest_difference(all, pieces) < 1e-10);
}

TEST_CASE("blocks of features are equal bit for bit for any number of threads") {
  const Problem problem = smooth_problem(5000, 3, 1, 0.1, 12);
  const auto map = gaussian_map(3, 34);
  const Preparation preparation = fit_standardizer(problem.x());
  FitOptions options;
  const FeatureRows rows(*map, preparation, options.coding, options.estimate.precision,
                         {problem.x(), problem.y()});
  const auto bytes = [&](int threads) {
    Context context;
    context.threads = threads;
    std::vector<float> all;
    rows.for_each(context, [&](const solver::FeatureBlock& block) {
      all.insert(all.end(), block.Z32.data, block.Z32.data + block.Z32.rows * block.Z32.cols);
    });
    return all;
  };
  const std::vector<float> one = bytes(1);
  REQUIRE(one.size() == 5000u * 34u);
  CHECK(std::memcmp(one.data(), bytes(2).data(), one.size() * sizeof(float)) == 0);
  CHECK(std::memcmp(one.data(), bytes(7).data(), one.size() * sizeof(float)) == 0);
}

double r_squared(const Matrix<double>& scores, const Matrix<double>& Y) {
  double error = 0, mean = 0, squares = 0;
  const auto n = static_cast<double>(Y.rows());
  for (int64_t i = 0; i < Y.rows(); ++i) mean += (Y(i, 0) - Y(0, 0)) / n;
  for (int64_t i = 0; i < Y.rows(); ++i) {
    error += std::pow(scores(i, 0) - Y(i, 0), 2);
    squares += std::pow(Y(i, 0) - Y(0, 0) - mean, 2);
  }
  return 1 - error / squares;
}

Problem moved(Problem problem, double offset) {
  for (int64_t i = 0; i < problem.Y.rows(); ++i) problem.Y(i, 0) += offset;
  return problem;
}

SearchOptions small_search() {
  SearchOptions options;
  options.features = 96;
  return options;
}

TEST_CASE("an offset of the targets does not change the search") {
  const Problem train = smooth_problem(600, 3, 1, 0.1, 1), test = smooth_problem(300, 3, 1, 0, 2);
  const auto score = [&](double offset) {
    const Problem far = moved({copy(train.x()), copy(train.y())}, offset);
    const Problem far_test = moved({copy(test.x()), copy(test.y())}, offset);
    const Model model = search(OneLengthscale(3), small_search(), far);
    return r_squared(predictions(model, far_test.x()), far_test.Y);
  };
  CHECK(std::abs(score(1e10) - score(0)) < 1e-3);
}

TEST_CASE("the trials of a search share their draws") {
  const Problem train = smooth_problem(30, 3, 1, 0.1, 1);
  Context context;
  const PartialMap maps = gaussian_maps(3);
  CandidateRows rows(maps, {}, feature::Precision::f64, 0, {train.x(), train.y()}, context);
  std::set<const feature::FeatureMap*> made;
  std::vector<std::shared_ptr<const feature::FeatureMap>> others;  // no address is taken twice
  for (const std::vector<double>& l : std::vector<std::vector<double>>{{1}, {2}, {1, 2, 3}}) {
    rows.at({}, l, 8, all_rows(30));
    made.insert(&rows.unit({}, 8));
    others.push_back(maps.make(1, 8));
  }
  CHECK(made.size() == 1);
  const std::vector<double> one = {1};
  rows.at({}, one, 16, all_rows(30));
  CHECK(rows.unit({}, 16).features() == 16);
}

TEST_CASE("a constant target has no R^2: the search reports NaN, not 1") {
  Problem train = smooth_problem(60, 3, 1, 0, 1);
  for (int64_t i = 0; i < 60; ++i) train.Y(i, 0) = 0.1;
  SearchOptions options = small_search();
  int64_t seen[2] = {0, 0};  // candidates, those with a number
  options.user = seen;
  options.report = [](void* user, const SearchCandidate& candidate) {
    ++static_cast<int64_t*>(user)[0];
    static_cast<int64_t*>(user)[1] += !std::isnan(candidate.score);
  };
  const Model model = search(OneLengthscale(3), options, train);
  CHECK(seen[0] > 0);
  CHECK(seen[1] == 0);
  CHECK(std::abs(predictions(model, train.x())(5, 0) - 0.1) < 1e-12);
  for (const PathPoint& point : model.path) CHECK(std::isfinite(point.score));
}

TEST_CASE("a choice by one held-out row is warned of") {
  const Problem train = smooth_problem(3100, 3, 1, 0, 1);  // too many for leave-one-out
  SearchOptions options = small_search();
  options.assess = false;
  options.held_out_fraction = 1e-9;
  const Model model = search(OneLengthscale(3), options, train);
  CHECK(model.fit.select.selection == Selection::held_out);
  CHECK(model.report.criterion_rows == 1);
  CHECK(std::ranges::find(model.report.warnings, "only 1 rows chose lengthscale and lambda") !=
        model.report.warnings.end());
}

}  // namespace fit_test
