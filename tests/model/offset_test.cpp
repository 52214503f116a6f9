// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Targets far from zero, constant targets, and numbers whose squares overflow.
#include <algorithm>
#include <cmath>

#include "model/model.h"
#include "model/search/search.h"
#include "model_problem.h"
#include "support/catch.h"
#include "support/refusal.h"

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

TEST_CASE("an offset of the targets changes no selection", "[model]") {
  const Problem train = smooth_problem(600, 3, 1, 0.3, 1), test = smooth_problem(300, 3, 1, 0, 2);
  Context context;
  const auto score = [&](Selection selection, int64_t D, double offset) {
    Fitting options;
    options.select.selection = selection;
    options.select.lambda = 1e-5;
    const Problem far = moved({copy(train.x()), copy(train.y())}, offset);
    const Problem far_test = moved({copy(test.x()), copy(test.y())}, offset);
    const Model model = fit(gaussian_map(3, D), options, far.x(), far.y(), context);
    return r_squared(predictions(model, far_test.x()), far_test.Y);
  };
  for (const Selection selection :
       {Selection::fixed, Selection::held_out, Selection::kfold, Selection::gcv, Selection::loo}) {
    for (const int64_t D : {128, 1024}) {  // primal, dual
      const double near = score(selection, D, 0);
      CHECK(near > 0.9);
      // The targets' deviation is about 0.8.
      for (const double offset : {1e7, 1e10})
        CHECK(std::abs(score(selection, D, offset) - near) < 1e-3);
    }
  }
}

TEST_CASE("an offset of the targets does not change the search", "[model]") {
  const Problem train = smooth_problem(600, 3, 1, 0.1, 1), test = smooth_problem(300, 3, 1, 0, 2);
  Context context;
  const auto score = [&](double offset) {
    const Problem far = moved({copy(train.x()), copy(train.y())}, offset);
    const Problem far_test = moved({copy(test.x()), copy(test.y())}, offset);
    const Model model = search(CountingMaker(), small_search(), far.x(), far.y(), context);
    return r_squared(predictions(model, far_test.x()), far_test.Y);
  };
  CHECK(std::abs(score(1e10) - score(0)) < 1e-3);
}

TEST_CASE("the trials of a search share their draws", "[model]") {
  const Problem train = smooth_problem(300, 3, 1, 0.1, 1);
  Context context;
  const CountingMaker maker;
  SearchOptions options = small_search();
  options.assess = false;
  int64_t trials = 0;
  options.user = &trials;
  options.report = [](void* user, const SearchCandidate&) { ++*static_cast<int64_t*>(user); };
  search(maker, options, train.x(), train.y(), context);
  CHECK(trials >= 6);
  CHECK(maker.made == 2);  // one for all trials, and the map that is kept
}

TEST_CASE("a constant target has no R^2: the search reports NaN, not 1", "[model]") {
  Problem train = smooth_problem(60, 3, 1, 0, 1);
  for (int64_t i = 0; i < 60; ++i) train.Y(i, 0) = 0.1;
  Context context;
  SearchOptions options = small_search();
  int64_t seen[2] = {0, 0};  // candidates, those with a number
  options.user = seen;
  options.report = [](void* user, const SearchCandidate& candidate) {
    ++static_cast<int64_t*>(user)[0];
    static_cast<int64_t*>(user)[1] += !std::isnan(candidate.score);
  };
  const Model model = search(CountingMaker(), options, train.x(), train.y(), context);
  CHECK(seen[0] > 0);
  CHECK(seen[1] == 0);
  CHECK(std::abs(predictions(model, train.x())(5, 0) - 0.1) < 1e-12);
  for (const PathPoint& point : model.path) CHECK(std::isfinite(point.score));
}

TEST_CASE("a choice by one held-out row is warned of", "[model]") {
  const Problem train = smooth_problem(3100, 3, 1, 0, 1);  // too many for leave-one-out
  Context context;
  SearchOptions options = small_search();
  options.assess = false;
  options.held_out_fraction = 1e-9;
  const Model model = search(CountingMaker(), options, train.x(), train.y(), context);
  CHECK(model.fit.select.selection == Selection::held_out);
  CHECK(model.report.criterion_rows == 1);
  CHECK(std::ranges::find(model.report.warnings, "1 rows chose lengthscale and lambda") !=
        model.report.warnings.end());
}

TEST_CASE("numbers whose squares overflow are refused by name", "[model]") {
  Context context;
  for (const double huge : {1e200, 1e308, -1e155}) {
    Problem targets = smooth_problem(30, 3, 1, 0, 1), inputs = smooth_problem(30, 3, 1, 0, 1);
    targets.Y(11, 0) = huge;
    inputs.X(12, 2) = huge;
    const auto refused = [&](const Problem& problem, const char* what) {
      return refusal_fault(
                 MERCER_INVALID_ARGUMENT,
                 [&] { fit(gaussian_map(3, 16), {}, problem.x(), problem.y(), context); }, what,
                 "1e150") +
             refusal_fault(
                 MERCER_INVALID_ARGUMENT,
                 [&] {
                   search(CountingMaker(), small_search(), problem.x(), problem.y(), context);
                 },
                 what, "1e150");
    };
    CHECK(refused(targets, "Y: row 11, column 0") == "");
    CHECK(refused(inputs, "X: row 12, column 2") == "");
  }
}
