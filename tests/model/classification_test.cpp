// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Classes: their codes, what is learnt of them and how it is scored.
#include "model/outputs/outputs.h"
#include "model/predict.h"
#include "model/rows/feature_rows.h"
#include "model/select/judge.h"
#include "model_problem.h"
#include "prepared_by.h"
#include "support/dense.h"
#include "support/reference.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::model;
using namespace mercer::test;

namespace mercer::test::classification_test {

TEST_CASE("simplex codes are the reference numbers and what they are for") {
  for (int64_t classes = 2; classes <= 6; ++classes) {
    Matrix<double> code(classes - 1, classes);
    model::simplex_code(code.view());
    const Reference& expected = oracle("operator_kernels")["simplex"][std::to_string(classes)];
    CHECK(difference(code.view(),
                     filled(classes - 1, classes,
                            [&](int64_t i, int64_t j) { return expected[i][j].get<double>(); })
                         .view(),
                     1e-14) == "");
    const auto T = static_cast<double>(classes);
    const Matrix<double> inner = product(transposed(code.view()).view(), code.view());
    CHECK(difference(inner.view(),
                     filled(classes, classes,
                            [&](int64_t i, int64_t j) { return i == j ? 1 : -1 / (T - 1); })
                         .view(),
                     1e-14) == "");
  }
  Matrix<double> wrong(2, 2);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, model::simplex_code(wrong.view()), "2 x 2");
}

}  // namespace mercer::test::classification_test

namespace {

/// Classes `labels` on a circle of radius 4, entries within 1 of their centre: separable.
Problem blobs(int64_t n, const std::vector<int64_t>& labels, uint64_t seed) {
  Problem problem{random_matrix(n, 2, seed), Matrix<double>(n, 1)};
  for (int64_t i = 0; i < n; ++i) {
    const auto k = static_cast<size_t>(i) % labels.size();
    const double angle = 2 * M_PI * static_cast<double>(k) / static_cast<double>(labels.size());
    problem.X(i, 0) += 4 * std::cos(angle);
    problem.X(i, 1) += 4 * std::sin(angle);
    problem.Y(i, 0) = static_cast<double>(labels[k]);
  }
  return problem;
}

FitOptions class_options(int64_t classes, Selection selection) {
  FitOptions options;
  options.coding.task = Task::classification;
  options.coding.classes = classes;
  options.select.selection = selection;
  return options;
}

int64_t errors(const Model& model, const Problem& problem) {
  std::vector<int32_t> found(problem.X.rows());
  Context context;
  classify(model, problem.x(), context, found);
  int64_t wrong = 0;
  for (int64_t i = 0; i < problem.X.rows(); ++i) {
    wrong += found[i] != static_cast<int32_t>(problem.Y(i, 0));
  }
  return wrong;
}

}  // namespace

TEST_CASE("separable classes are learnt without error") {
  int64_t wrong = 0;
  for (const int64_t classes : {2, 3, 6}) {
    std::vector<int64_t> labels;
    for (int64_t k = 0; k < classes; ++k) labels.push_back(k);
    for (const int64_t D : {64, 512}) {  // primal, dual
      for (const Selection selection : {Selection::gcv, Selection::held_out, Selection::folds}) {
        const Problem train = blobs(300, labels, 31);
        const Model model = fit(gaussian_map(2, D), class_options(classes, selection), train);
        wrong += errors(model, blobs(300, labels, 32));
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a class without rows is never predicted") {
  // Its codes are all zero, so are its weights and intercept; the scores of a row sum to 1, so
  // another is above 0.
  const Problem train = blobs(200, {0, 2, 4}, 33);
  const Model model = fit(gaussian_map(2, 64), class_options(5, Selection::gcv), train);
  CHECK(model.outputs() == 5);
  CHECK(errors(model, blobs(300, {0, 2, 4}, 34)) == 0);
}

TEST_CASE("a row outside the kernel's domain has no class, unless it is clipped") {
  Problem train = blobs(60, {0, 1}, 38);
  for (int64_t i = 0; i < 60; ++i)
    for (int64_t j = 0; j < 2; ++j) train.X(i, j) = std::abs(train.X(i, j));
  FitOptions options = class_options(2, Selection::fixed);
  options.prepare.standardize = false;
  Context context;
  const std::shared_ptr<const feature::FeatureMap> map =
      feature::make_fourier(*kernel::make_skewed_chi2(0.5, 1.0), 2, 32, {});
  const Model model = fit(map, options, train);
  train.X(3, 1) = -2;
  std::vector<int32_t> found(60);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                classify(model, train.x(), context, found, Extrapolation::free),
                "X: row 3, column 1 (counted from 0) is -2", "> -0.5, as kernel skewed_chi2");
  CHECK(classify(model, train.x(), context, found).rows == 1);
}

TEST_CASE("class scores are least squares on one-hot codes") {
  const Problem train = blobs(120, {0, 1, 2}, 35);
  Matrix<double> codes(120, 3);
  codes.fill(0);
  for (int64_t i = 0; i < 120; ++i) codes(i, static_cast<int64_t>(train.Y(i, 0))) = 1;
  FitOptions options = class_options(3, Selection::fixed);
  options.select.lambda = 1e-3;
  options.estimate.precision = feature::Precision::f64;
  Context context;
  const Model model = fit(gaussian_map(2, 64), options, train);
  options.coding = {};
  const Model coded =
      fit(gaussian_map(2, 64), options, train.x(), MatrixView<const double>(codes.view()), context);
  CHECK(largest_difference(predictions(model, train.x()), predictions(coded, train.x())) == 0);
}

TEST_CASE("held-out selection of a classifier counts errors") {
  // Overlapping classes, so that there are errors to count: blobs at distance 0.5 with labels by
  // turns.
  Problem problem{random_matrix(200, 2, 36), Matrix<double>(200, 1)};
  for (int64_t i = 0; i < 200; ++i) {
    problem.Y(i, 0) = static_cast<double>(i % 2);
    problem.X(i, 0) += 0.5 * static_cast<double>(i % 2);
  }
  FitOptions options = class_options(2, Selection::held_out);
  options.estimate.precision = feature::Precision::f64;
  options.select.held_out_fraction = 0.3;
  options.select.lambda_largest = 1e-1;
  options.select.lambda_smallest = 1e-5;
  options.select.lambda_count = 5;
  const Model model = fit(gaussian_map(2, 40), options, problem);
  const Matrix<double> Z = plain_features(*model.map, problem.x(), model.preparation);
  Matrix<double> codes(200, 2);
  for (int64_t i = 0; i < 200; ++i) {
    codes(i, 0) = 1 - problem.Y(i, 0);
    codes(i, 1) = problem.Y(i, 0);
  }
  const std::vector<double> classes(problem.Y.data(), problem.Y.data() + 200);
  const Split split =
      split_rows(all_rows(200), 0.3, 200, options.select.seed, Purpose::choice, {classes});
  double worst = 0;
  for (const PathPoint& point : model.path) {
    const auto n = static_cast<double>(split.train.size());
    const Matrix<double> scores = plain_ridge(rows_of(Z, split.train), rows_of(codes, split.train),
                                              n * point.lambda, rows_of(Z, split.held_out));
    double wrong = 0;
    for (int64_t i = 0; i < scores.rows(); ++i) {
      const double label = problem.Y(split.held_out[i], 0);
      wrong += (scores(i, 1) > scores(i, 0)) != (label == 1);
    }
    worst = std::max(worst, std::abs(point.score - wrong / static_cast<double>(scores.rows())));
  }
  CHECK(worst < 1e-12);
  CHECK(model.path[0].score > 0);
}

TEST_CASE("scores of several weights in one pass are those of each alone") {
  const Problem problem = blobs(100, {0, 1, 2}, 37);
  const auto map = gaussian_map(2, 16);
  const Preparation preparation = fit_standardizer(problem.x());
  const FitOptions options = class_options(3, Selection::fixed);
  const FeatureRows rows(*map, preparation, options.coding, options.estimate.precision,
                         {problem.x(), problem.y()});
  std::vector<solver::Weights> weights;
  for (uint64_t k = 0; k < 3; ++k)
    weights.push_back({random_matrix(16, 3, 40 + k), {0.1, 0.2, 0.3}});
  weights[2].intercept[1] = std::numeric_limits<double>::quiet_NaN();
  Context context;
  const auto together = score_rows(rows, Task::classification, weights, context);
  double worst = 0;
  for (size_t k = 0; k < 2; ++k) {
    const auto alone =
        score_rows(rows, Task::classification, std::span(&weights[k], 1), context)[0];
    worst = std::max({worst, std::abs(alone.squared_error - together[k].squared_error),
                      std::abs(alone.error_rate - together[k].error_rate)});
  }
  CHECK(worst < 1e-12);
  CHECK(std::isnan(together[2].squared_error));
}
