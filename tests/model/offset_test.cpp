// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Targets far from zero, constant targets, and numbers whose squares overflow.
#include "model/model.h"
#include "model_problem.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace {

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

struct CountingMaker : GaussianMaker {
  CountingMaker() : GaussianMaker(3) {}
  mutable int64_t made = 0;
  std::shared_ptr<const feature::FeatureMap> make(double lengthscale, int64_t D) const override {
    ++made;
    return GaussianMaker::make(lengthscale, D);
  }
};

SearchOptions small_search() {
  SearchOptions options;
  options.features = 96;
  return options;
}

}  // namespace

TEST_CASE("an offset of the targets does not change the search", "[model]") {
  const Problem train = smooth_problem(600, 3, 1, 0.1, 1), test = smooth_problem(300, 3, 1, 0, 2);
  const auto score = [&](double offset) {
    const Problem far = moved({copy(train.x()), copy(train.y())}, offset);
    const Problem far_test = moved({copy(test.x()), copy(test.y())}, offset);
    const Model model = search(CountingMaker(), small_search(), far);
    return r_squared(predictions(model, far_test.x()), far_test.Y);
  };
  CHECK(std::abs(score(1e10) - score(0)) < 1e-3);
}

TEST_CASE("the trials of a search share their draws", "[model]") {
  const Problem train = smooth_problem(300, 3, 1, 0.1, 1);
  const CountingMaker maker;
  SearchOptions options = small_search();
  options.assess = false;
  int64_t trials = 0;
  options.user = &trials;
  options.report = [](void* user, const SearchCandidate&) { ++*static_cast<int64_t*>(user); };
  search(maker, options, train);
  CHECK(trials >= 6);
  CHECK(maker.made == 2);  // one for all trials, and the map that is kept
}

TEST_CASE("a constant target has no R^2: the search reports NaN, not 1", "[model]") {
  Problem train = smooth_problem(60, 3, 1, 0, 1);
  for (int64_t i = 0; i < 60; ++i) train.Y(i, 0) = 0.1;
  SearchOptions options = small_search();
  int64_t seen[2] = {0, 0};  // candidates, those with a number
  options.user = seen;
  options.report = [](void* user, const SearchCandidate& candidate) {
    ++static_cast<int64_t*>(user)[0];
    static_cast<int64_t*>(user)[1] += !std::isnan(candidate.score);
  };
  const Model model = search(CountingMaker(), options, train);
  CHECK(seen[0] > 0);
  CHECK(seen[1] == 0);
  CHECK(std::abs(predictions(model, train.x())(5, 0) - 0.1) < 1e-12);
  for (const PathPoint& point : model.path) CHECK(std::isfinite(point.score));
}

TEST_CASE("a choice by one held-out row is warned of", "[model]") {
  const Problem train = smooth_problem(3100, 3, 1, 0, 1);  // too many for leave-one-out
  SearchOptions options = small_search();
  options.assess = false;
  options.held_out_fraction = 1e-9;
  const Model model = search(CountingMaker(), options, train);
  CHECK(model.fit.select.selection == Selection::held_out);
  CHECK(model.report.criterion_rows == 1);
  CHECK(std::ranges::find(model.report.warnings, "1 rows chose lengthscale and lambda") !=
        model.report.warnings.end());
}
