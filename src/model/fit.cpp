// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A model from rows: check, standardise, then statistics and ridge by way of selection.cpp. Rows in
// memory and rows that a stream hands over differ in how they become a source of blocks, and in
// nothing after that.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/finite.h"
#include "base/size.h"
#include "model/feature_rows.h"
#include "model/fit_checks.h"
#include "model/input_domain.h"
#include "model/map_from_rows.h"
#include "model/model_entry.h"
#include "model/row_coding.h"
#include "model/row_sets.h"
#include "model/row_summary.h"
#include "model/stream_rows.h"
#include "solver/row_weights.h"
#include "solver/work.h"

namespace mercer::model {
namespace {

constexpr int64_t kPasses = 4;  // over a stream, of which the first reads alone
constexpr const char* kClassNumbers = "the class numbers of a stream's rows";
int64_t class_bytes(int64_t rows) { return checked_multiply(8, rows, kClassNumbers); }

/// Of rows that several processes share only sums, extremes and quantiles of the inputs as they are
/// given are known to all.
void check_shared(const FitOptions& options) {
  require(
      options.missing == Missing::refuse, MERCER_UNSUPPORTED,
      "missing = fill of rows that several processes share, expected refuse: medians would take "
      "a column's numbers in one process");
  require(options.scale == Scale::standard, MERCER_UNSUPPORTED,
          "scale = %s of rows that several processes share, expected standard: it would take a "
          "column's numbers in one process",
          options.scale == Scale::robust ? "robust" : "center");
  require(options.transform == Transform::none && options.target_transform == Transform::none,
          MERCER_UNSUPPORTED,
          "transform or target_transform of rows that several processes share, expected none: "
          "curves would take a column's numbers in one process");
}

void learn(const solver::BlockSource& rows, Context& context, Model& model) {
  Learned learned = model.options.model->fit(rows, model.options, context);
  model.predictor = std::move(learned.predictor);
  model.options.lambda = learned.lambda;
  model.path = std::move(learned.path);
  model.calibration = std::move(learned.calibration);
}

/// What is refused of options, rows and targets whatever the map.
void check_fit(const FitOptions& options, const Rows& X, MatrixView<const double> Y,
               std::span<const double> weights) {
  solver::require_weights(weights, X.rows());
  check_rows(options, "X", X.rows(), solver::total_weight(weights, X.rows()));
  check_numbers(options, X);
  check_targets(options, Y);
}

Model fit_prepared(std::shared_ptr<const feature::FeatureMap> map, Preparation preparation,
                   Ranges ranges, const FitOptions& options, const Rows& X,
                   MatrixView<const double> Y, Context& context, std::span<const double> weights) {
  Model model;
  model.map = std::move(map);
  model.preparation = std::move(preparation);
  model.ranges = std::move(ranges);
  model.options = options;
  model.rows = X.rows();
  learn(FeatureRows(*model.map, model.preparation, options, {X, Y, weights}), context, model);
  return model;
}

}  // namespace

Model fit(std::shared_ptr<const feature::FeatureMap> map, const FitOptions& given, const Rows& X,
          MatrixView<const double> Y, Context& context, std::span<const double> weights) {
  check_options(given);
  check_shapes(given, X.rows(), X.cols(), Y);
  check_map(*map, prepared_inputs(given, X, weights));
  check_fit(given, X, Y, weights);
  const std::vector<double> relative = solver::relative_weights(weights);
  const FitOptions options = within(domain_of(map->kernel()), given, X);
  const RowSummary summary(options, X, Y, relative, context);
  summary.require_numbers();
  return fit_prepared(std::move(map), summary.preparation(), summary.ranges(), options, X, Y,
                      context, relative);
}

Model fit(const MapFromRows& plan, const FitOptions& given, const Rows& X,
          MatrixView<const double> Y, Context& context, std::span<const double> weights) {
  check_options(given);
  check_shapes(given, X.rows(), X.cols(), Y);
  check_inputs(plan.inputs, prepared_inputs(given, X, weights));
  check_fit(given, X, Y, weights);
  const FitOptions options = within(plan.domain, given, X);
  const RowSummary summary(options, X, Y, weights, context);
  summary.require_numbers();
  Preparation preparation = summary.preparation();
  const int64_t making = solver::eigen_rows(plan.features);
  Stage stage(context, making + 3 * X.rows() + solver::eigen_rows(plan.features));
  const RowsForMap rows =
      rows_for_map(X, Y, preparation, options, rows_without(X.rows(), {}), plan.features, context);
  stage.share(making);
  auto map = plan.make(rows.X.view(), rows.Y.view(), context);
  stage.advance(making);
  stage.share(3 * X.rows() + solver::eigen_rows(plan.features));
  check_map(*map, preparation.prepared(X.cols()));
  return fit_prepared(std::move(map), std::move(preparation), summary.ranges(), options, X, Y,
                      context, weights);
}

Model fit_stream(std::shared_ptr<const feature::FeatureMap> map, const FitOptions& given,
                 RowStream& stream, int64_t targets, Context& context) {
  FitOptions options = given;
  options.domain = domain_of(map->kernel());
  check_preparation(options);
  check_options(options);
  check_target_columns(options, "targets", targets);
  require(options.missing != Missing::flag, MERCER_UNSUPPORTED,
          "missing = flag of a stream, whose flags cannot be counted before it is read: expected "
          "refuse or fill");
  check_map(*map, map->inputs());
  solver::Reduction* const reduction = stream.reduction();
  if (reduction != nullptr) check_shared(options);
  Model model;
  model.map = std::move(map);
  model.options = options;
  const CheckedStream checked(*model.map, options, stream, targets, context);
  RowSummary summary(options, model.map->inputs(), targets, context);
  std::vector<double> classes;  // of which rows held out and folds take their shares
  const bool holds_out =
      options.selection == Selection::kfold || options.selection == Selection::held_out;
  Stage stage(context, kPasses);
  const int64_t rows = checked.pass(context, [&](int64_t, const RowStream::Block& block) {
    summary.add(block.X, block.Y, block.weights);
    if (!holds_out) return;
    const std::vector<double> more = classes_of(options, block.Y);
    // Twice: they are copied as they grow.
    context.require_room(
        class_bytes(checked_multiply(2, std::ssize(classes) + std::ssize(more), kClassNumbers)),
        kClassNumbers);
    classes.insert(classes.end(), more.begin(), more.end());
  });
  stage.advance(1);
  stage.share(kPasses - 1);
  const MemoryCharge held = context.charge(class_bytes(std::ssize(classes)), kClassNumbers);
  if (reduction != nullptr) summary.reduce(*reduction, context);
  model.rows = summary.rows();
  check_rows(options, "the stream", model.rows, summary.weight());
  summary.require_numbers();
  model.preparation = summary.preparation();
  model.ranges = summary.ranges();
  learn(StreamRows(checked, model.preparation, rows, classes), context, model);
  return model;
}

}  // namespace mercer::model
