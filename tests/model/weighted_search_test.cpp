// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights of rows through a search, its scores and its learnt lengthscales; weights of classes.
#include "model/assess/assessment.h"
#include "model/estimator/class_weights.h"
#include "model/row_stream.h"
#include "model_problem.h"
#include "statistic/metrics.h"
#include "support/fit.h"
#include "support/refusal.h"

namespace weighted_search_test {
using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

Model searched(const Problem& problem, std::span<const double> weights = {},
               SearchOptions options = {}) {
  options.features = 40;
  options.fit.estimate.precision = feature::Precision::f64;
  return search(OneLengthscale{3, 5}, options, problem, weights);
}

/// Every fifth row of class 1, the others of class 0; the classes overlap.
Problem rare_class(int64_t n, uint64_t seed) {
  Problem problem{random_matrix(n, 3, seed), Matrix<double>(n, 1)};
  for (int64_t i = 0; i < n; ++i) {
    problem.Y(i, 0) = i % 5 == 0 ? 1 : 0;
    problem.X(i, 0) += problem.Y(i, 0) * 0.8;
  }
  return problem;
}

FitOptions of_classes(bool balanced) {
  FitOptions options = f64_options(Selection::fixed);
  options.coding.task = Task::classification;
  options.coding.classes = 2;
  options.select.lambda = 1e-3;
  options.estimate.parameters.set("class_weight", balanced ? "balanced" : "none");
  return options;
}

/// Rows of class 1 that are found.
double recall(const Model& model, const Problem& problem) {
  const Matrix<double> scores = predictions(model, problem.x());
  Matrix<double> counts(2, 2);
  statistic::confusion(problem.y(), scores.view(), counts.view());
  return counts(1, 1) / (counts(1, 0) + counts(1, 1));
}

struct Stream final : RowStream {
  explicit Stream(const Problem& problem) : problem_(problem) {}
  void rewind() override { given_ = false; }
  Block next() override {
    const int64_t rows = std::exchange(given_, true) ? 0 : problem_.X.rows();
    return {Rows(problem_.x()).block_rows(0, rows), problem_.y().block_rows(0, rows)};
  }
  const Problem& problem_;
  bool given_ = false;
};

TEST_CASE("a search leaves rows of weight 0 out before anything else") {
  Problem problem = smooth_problem(200, 3, 1, 0.3, 62);
  std::vector<double> weights;
  std::vector<int64_t> used;
  for (int64_t i = 0; i < 200; ++i) {
    weights.push_back(i % 3 == 0 ? 0.0 : 1.0 + static_cast<double>(i % 2));
    if (i % 3 == 0) problem.X(i, 0) = problem.Y(i, 0) = 1e6;
    if (i % 3 != 0) used.push_back(i);
  }
  const Problem rest{rows_of(problem.X, used), rows_of(problem.Y, used)};
  std::vector<double> others;
  std::ranges::copy_if(weights, std::back_inserter(others), [](double w) { return w > 0; });
  const Model with = searched(problem, weights), without = searched(rest, others);
  CHECK(with.rows == std::ssize(used));
  CHECK(largest_difference(predictions(with, rest.x()), predictions(without, rest.x())) == 0);
  CHECK(with.report.assessment.score == without.report.assessment.score);
  weights.assign(200, 0.0);
  weights[3] = 1;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, weights), "1 of 200 rows");
  weights[3] = -2;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, searched(problem, weights),
                "row 3 (counted from 0) has weight -2");
}

TEST_CASE("a search learns from the rows that weigh") {
  Problem problem = smooth_problem(400, 3, 1, 0.05, 63);
  const Problem truth = smooth_problem(400, 3, 1, 0, 64);
  std::vector<double> weights(400, 1.0);
  for (int64_t i = 0; i < 400; i += 2) {  // half of the rows say the contrary
    problem.Y(i, 0) = -problem.Y(i, 0);
    weights[i] = 1e-4;
  }
  const Model deaf = searched(problem), told = searched(problem, weights);
  CHECK(statistic::r_squared(truth.y(), predictions(deaf, truth.x()).view()) < 0.3);
  CHECK(statistic::r_squared(truth.y(), predictions(told, truth.x()).view()) > 0.95);
  CHECK(told.report.assessment.score > 0.95);
}

TEST_CASE("weighted scores are those of repeated rows, their errors a jackknife's") {
  const int64_t n = 400;
  const Matrix<double> y = random_matrix(n, 1, 65), noise = random_matrix(n, 1, 66);
  Matrix<double> f(n, 1), classes(n, 1), scores(n, 2);
  std::vector<double> weights;
  std::vector<int64_t> repeated;
  for (int64_t i = 0; i < n; ++i) {
    f(i, 0) = y(i, 0) + 0.5 * noise(i, 0);
    classes(i, 0) = y(i, 0) > 0 ? 1 : 0;
    scores(i, 0) = 1 / (1 + std::exp(3 * f(i, 0)));
    scores(i, 1) = 1 - scores(i, 0);
    weights.push_back(static_cast<double>(i % 4));
    for (int64_t k = 0; k < i % 4; ++k) repeated.push_back(i);
  }
  const Matrix<double> yr = rows_of(y, repeated), fr = rows_of(f, repeated),
                       cr = rows_of(classes, repeated), sr = rows_of(scores, repeated);
  using namespace mercer::statistic;
  CHECK(r_squared(y.view(), f.view(), weights) == Approx(r_squared(yr.view(), fr.view())));
  CHECK(root_mean_square(y.view(), f.view(), weights) ==
        Approx(root_mean_square(yr.view(), fr.view())));
  CHECK(mean_absolute(y.view(), f.view(), weights) == Approx(mean_absolute(yr.view(), fr.view())));
  CHECK(pinball(y.view(), f.view(), 0.3, weights) == Approx(pinball(yr.view(), fr.view(), 0.3)));
  CHECK(accuracy(classes.view(), scores.view(), weights) == Approx(accuracy(cr.view(), sr.view())));
  CHECK(area_under_curve(classes.view(), scores.view(), weights) ==
        Approx(area_under_curve(cr.view(), sr.view())));
  CHECK(log_loss(classes.view(), scores.view(), weights) == Approx(log_loss(cr.view(), sr.view())));
  // One bin holds all rows; of more, a bin's edge may fall between copies of a row.
  CHECK(calibration_error(classes.view(), scores.view(), 1, weights) ==
        Approx(calibration_error(cr.view(), sr.view(), 1)));
  CHECK(calibration_error(classes.view(), scores.view(), 7, std::vector<double>(400, 3.0)) ==
        Approx(calibration_error(classes.view(), scores.view(), 7)));

  for (double& weight : weights) weight += 0.5;
  for (const bool of_classes : {false, true}) {
    const Task task = of_classes ? Task::classification : Task::regression;
    const Matrix<double>&truth = of_classes ? classes : y, &guess = of_classes ? scores : f;
    std::vector<double> without;  // each row's weight in turn 0: its observation gone
    for (size_t i = 0; i < weights.size(); ++i) {
      std::vector<double> left = weights;
      left[i] = 0;
      without.push_back(score_of(task, truth.view(), guess.view(), left).value);
    }
    const double mean = std::accumulate(without.begin(), without.end(), 0.0) / n;
    double squares = 0;
    for (const double one : without) squares += (one - mean) * (one - mean);
    CHECK(score_of(task, truth.view(), guess.view(), weights).standard_error ==
          Approx(std::sqrt(squares * (n - 1) / n)).epsilon(of_classes ? 0.1 : 0.2));
  }
}

TEST_CASE("balanced classes are the weights n / (K n_k), in every form of a fit") {
  Context context;
  const Problem problem = rare_class(100, 67);
  std::vector<double> weights;
  for (int64_t i = 0; i < 100; ++i) weights.push_back(i % 5 == 0 ? 2.5 : 0.625);
  for (const int64_t D : {20, 160}) {  // the second: the dual form
    const auto map = gaussian_map(3, D);
    FitOptions balanced = of_classes(true), plain = of_classes(false);
    balanced.prepare.standardize = plain.prepare.standardize =
        false;  // by rows as they are, then by weights
    const Model by_option = fit(map, balanced, problem);
    const Model by_weights = fit(map, plain, problem, weights);
    Stream stream(problem);
    const Model streamed = fit_stream(map, balanced, stream, 1, context);
    CHECK(largest_difference(predictions(by_option, problem.x()),
                             predictions(by_weights, problem.x())) < 1e-9);
    CHECK(largest_difference(predictions(by_option, problem.x()),
                             predictions(streamed, problem.x())) < 1e-9);
    CHECK(recall(by_option, problem) > recall(fit(map, plain, problem), problem));
    // Probabilities are of the rows as they are: a fifth of class 1.
    Matrix<double> p = predictions(by_option, problem.x());
    by_option.calibration.apply(p.view());
    double share = 0;
    for (int64_t i = 0; i < 100; ++i) share += p(i, 1) / 100;
    CHECK(share == Approx(0.2).margin(0.05));
  }
  FitOptions numbers = f64_options(Selection::fixed);
  numbers.estimate.parameters.set("class_weight", "balanced");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, fit(gaussian_map(3, 20), numbers, problem),
                "the task is regression");
}

TEST_CASE("a search of balanced classes finds more of the rare one, by either estimator") {
  const Problem train = rare_class(400, 68), fresh = rare_class(1000, 69);
  for (const Estimator estimator : {Estimator::ridge, Estimator::logistic}) {
    double found[2];
    for (const bool balanced : {false, true}) {
      SearchOptions options;
      options.fit = of_classes(balanced);
      options.assess = false;
      options.estimator = estimator;
      const Model model = searched(train, {}, options);
      found[balanced] = recall(model, fresh);
      CHECK(is_balanced(model.fit.estimate.parameters) == balanced);
      Matrix<double> p = predictions(model, fresh.x());
      model.calibration.apply(p.view());
      double share = 0;
      for (int64_t i = 0; i < 1000; ++i) share += p(i, 1) / 1000;
      CHECK(share == Approx(0.2).margin(0.06));
    }
    CHECK(found[1] > found[0] + 0.1);
  }
}

}  // namespace weighted_search_test
