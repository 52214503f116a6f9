// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks, which rows choices may see, and nested searches where rows are few.
#include "model/search.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/finite.h"
#include "base/size.h"
#include "feature/map_entry.h"
#include "model/class_weights.h"
#include "model/column_warnings.h"
#include "model/copied_rows.h"
#include "model/fit_checks.h"
#include "model/input_domain.h"
#include "model/model_entry.h"
#include "model/row_coding.h"
#include "model/row_summary.h"
#include "model/search_run.h"
#include "model/warnings.h"
#include "solver/lambda_path.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

using Long = long long;

constexpr int64_t kLeastAssessed = 10;
constexpr int64_t kMostNested = 1000;
constexpr double kUnseenShare = 0.1;
constexpr int64_t kMostUnseen = 10000;
constexpr int64_t kFeatures = 2048;
// The frequencies of a whole block of up to 4,096 inputs: half a block misses half of their
// directions, and with these half of what is linear in them.
constexpr int64_t kMostFeatures = 8192;
constexpr int64_t kNumbers = int64_t{1} << 23;  // n D: n^2 D is at most that of n = 2,048
constexpr int64_t kWeights = int64_t{1} << 25;  // d D: of frequencies kept as a matrix

void check_search(const SearchOptions& options) {
  require(options.fit.model->searched, MERCER_UNSUPPORTED,
          "search of a model of kind %s, expected %s", options.fit.model->name, ridge_model().name);
  require(options.estimator != Estimator::logistic || options.fit.task == Task::classification,
          MERCER_INVALID_ARGUMENT,
          "estimator = logistic is of classification, the task is "
          "regression");
  require(options.features >= 1, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected a positive number", static_cast<Long>(options.features));
  require(options.lengthscale >= 0 && std::isfinite(options.lengthscale), MERCER_INVALID_ARGUMENT,
          "lengthscale = %g, expected a positive number, or 0 to search", options.lengthscale);
  require(!std::isnan(options.lambda) && !std::isinf(options.lambda), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a number >= 0, or a negative one to search", options.lambda);
  require(options.held_out_fraction > 0 && options.held_out_fraction < 1, MERCER_INVALID_ARGUMENT,
          "held_out_fraction = %g, expected a number between 0 and 1", options.held_out_fraction);
}

void put_rows(const Matrix<double>& from, const std::vector<int64_t>& rows,
              const Matrix<double>& to) {
  for (int64_t i = 0; i < from.rows(); ++i)
    std::copy_n(from.view().row(i), from.cols(), to.view().row(rows[static_cast<size_t>(i)]));
}

void add_warnings(const std::vector<std::string>& more, FitReport& report) {
  report.warnings.insert(report.warnings.end(), more.begin(), more.end());
}

/// The whole search for each of five folds, which is then predicted.
Assessment assess_nested(const MapMaker& maker, const SearchOptions& options, const Rows& X,
                         MatrixView<const double> Y, std::span<const double> weights, Stage& stage,
                         Context& context) {
  SearchOptions inner = options;
  inner.report = nullptr;
  inner.calibrate = false;
  const int64_t n = X.rows(), outputs = coded_outputs(options.fit, Y.cols);
  const auto predictions = [&](int64_t rows) {
    return Matrix<double>(rows, outputs, context, "predictions of rows left out");
  };
  Foreseen all{predictions(n), {predictions(n), {}}};
  if (X.cols() <= kMostLinearInputs) all.baselines.linear = predictions(n);
  for (const std::vector<int64_t>& fold :
       fold_rows(n, kFolds, options.fit.seed, classes_of(options.fit, Y))) {
    const std::vector<int64_t> train = rows_without(n, fold);
    const CopiedRows train_rows(X, train, context), fold_rows(X, fold, context);
    const Matrix<double> targets = copied_targets(Y, train, context);
    const std::vector<double> own = solver::taken_weights(weights, train);
    inner.features = std::min(options.features, maker.most_features(std::ssize(train)));
    stage.share(1);
    const Model model = SearchRun(maker, inner, train_rows.rows(), targets.view(), own,
                                  all_rows(train_rows.rows().rows()), {}, context)
                            .run();
    const Matrix<double> predicted = predictions(std::ssize(fold));
    predict(model, fold_rows.rows(), context, predicted.view(), foreseen_as(options.fit));
    const Baselines base = baselines(model, X, Y, train, fold, context, weights);
    put_rows(predicted, fold, all.model);
    put_rows(base.constant, fold, all.baselines.constant);
    put_rows(base.linear, fold, all.baselines.linear);
    stage.advance(1);
  }
  return assess(Assessed::nested, options.fit, Y, all, weights);
}

std::string fewer_features(const MapMaker& maker, int64_t features, int64_t wanted) {
  const bool by_rows = maker.most_features(feature::kMostFeatures) > features;
  return std::string(by_rows ? "the map takes a row for each feature, of those that choose: "
                             : "the inputs decide how many features the map has: ") +
         std::to_string(features) + " features, not " + std::to_string(wanted);
}

/// The search of targets as they are, with the same flags in every part of the rows.
Model search_plainly(const MapMaker& maker, const SearchOptions& options, const Rows& X,
                     MatrixView<const double> Y, std::span<const double> weights,
                     Context& context) {
  const int64_t n = X.rows();
  const bool assessed = options.assess && n >= kLeastAssessed;
  const bool nested = assessed && n <= kMostNested;
  Stage stage(context, nested ? kFolds + 1 : 1);
  Split split{all_rows(n), {}};
  if (assessed && !nested)
    split = split_rows(all_rows(n), kUnseenShare, kMostUnseen, options.fit.seed, Purpose::unseen,
                       classes_of(options.fit, Y));
  SearchOptions possible = options;
  possible.features = std::min(options.features, maker.most_features(std::ssize(split.train)));
  // Of the last fit, which is refused before the first trial.
  context.require_room(solver::least_ridge_bytes(n, possible.features), "the search");
  stage.share(1);
  Model model = SearchRun(maker, possible, X, Y, weights, std::move(split.train),
                          std::move(split.held_out), context)
                    .run();
  stage.advance(1);
  if (possible.features < options.features && options.given_features)
    model.report.warnings.push_back(fewer_features(maker, possible.features, options.features));
  if (nested)
    model.report.assessment = assess_nested(maker, options, X, Y, weights, stage, context);
  add_warnings(data_warnings(options.fit, X, Y, model.report.assessment, context), model.report);
  add_warnings(score_warnings(options.fit, model.report.assessment), model.report);
  return model;
}

Matrix<double> curved(MatrixView<const double> Y, const std::vector<Curve>& curves,
                      Context& context) {
  Matrix<double> out(Y.rows, Y.cols, context, "transformed targets");
  for (int64_t i = 0; i < Y.rows; ++i)
    for (int64_t o = 0; o < Y.cols; ++o) out(i, o) = curves[static_cast<size_t>(o)](Y(i, o));
  return out;
}

/// Flags and the curves of targets are those of all rows, known before any are held out.
Model search_prepared(const MapMaker& maker, const SearchOptions& options, const Rows& X,
                      MatrixView<const double> Y, std::span<const double> weights,
                      Context& context) {
  const RowSummary summary(options.fit, X, Y, weights, context);
  summary.require_numbers();
  const Preparation preparation = summary.preparation();
  SearchOptions plain = options;
  plain.fit.target_transform = Transform::none;
  plain.fit.flagged = preparation.flagged;
  Matrix<double> targets;
  if (!preparation.targets.empty()) targets = curved(Y, preparation.targets, context);
  Model model = search_plainly(maker, plain, X,
                               targets.rows() > 0 ? MatrixView<const double>(targets.view()) : Y,
                               weights, context);
  model.preparation.targets = preparation.targets;
  model.options.target_transform = options.fit.target_transform;
  model.options.flagged = {};
  model.ranges = summary.ranges();
  return model;
}

Model search_used(const MapMaker& maker, const SearchOptions& options, const Rows& X,
                  MatrixView<const double> Y, std::span<const double> weights, Context& context) {
  const FitOptions& fit = options.fit;
  const bool plain = fit.missing == Missing::refuse && fit.target_transform == Transform::none;
  Model model = plain ? search_plainly(maker, options, X, Y, weights, context)
                      : search_prepared(maker, options, X, Y, weights, context);
  add_warnings(column_warnings(fit, X, Y, context), model.report);
  return model;
}

/// The search of a copy of the rows that weigh anything.
Model search_weighing(const MapMaker& maker, const SearchOptions& options, const Rows& X,
                      MatrixView<const double> Y, std::span<const double> weights,
                      Context& context) {
  std::vector<int64_t> used;
  for (int64_t i = 0; i < X.rows(); ++i)
    if (weights[static_cast<size_t>(i)] > 0) used.push_back(i);
  require(std::ssize(used) >= 2, MERCER_INVALID_ARGUMENT,
          "%lld of %lld rows have a weight above 0, expected at least 2",
          static_cast<Long>(std::ssize(used)), static_cast<Long>(X.rows()));
  const CopiedRows rows(X, used, context);
  const Matrix<double> targets = copied_targets(Y, used, context);
  return search_used(maker, options, rows.rows(), targets.view(),
                     solver::taken_weights(weights, used), context);
}

}  // namespace

int64_t default_features(int64_t n, int64_t d, const Context& context) {
  int64_t features = kMostFeatures;
  while (features > kFeatures &&
         (n > kNumbers / features || d > kWeights / features ||
          !context.has_room(2 * solver::least_ridge_bytes(n, features))))
    features /= 2;
  return features;
}

Model search(const MapMaker& maker, const SearchOptions& options, const Rows& X,
             MatrixView<const double> Y, Context& context, std::span<const double> weights) {
  check_search(options);
  FitOptions fit = options.fit;
  fit.selection = Selection::gcv;  // the selection is the search's own; the rest
                                   // is checked as for fit
  check_options(fit);
  check_class_weight(fit);
  check_shapes(fit, X.rows(), X.cols(), Y);
  solver::require_weights(weights, X.rows());
  check_rows(fit, "X", X.rows(), solver::total_weight(weights, X.rows()));
  check_numbers(fit, X);
  check_targets(fit, Y);
  SearchOptions inside = options;
  inside.fit = within(maker.domain(), options.fit, X);
  if (!options.given_features) inside.features = default_features(X.rows(), X.cols(), context);
  const std::vector<double> relative = solver::relative_weights(weights);
  Model model = std::ranges::count(relative, 0.0) > 0
                    ? search_weighing(maker, inside, X, Y, relative, context)
                    : search_used(maker, inside, X, Y, relative, context);
  if (options.few_missing > 0)
    model.report.warnings.push_back(std::to_string(options.few_missing) +
                                    (options.few_missing == 1 ? " input is" : " inputs are") +
                                    " missing in fewer than " + std::to_string(kLeastFlagged) +
                                    " rows: filled, not flagged");
  return model;
}

}  // namespace mercer::model
