// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits a model: checks, preparation, then the estimator. Rows in memory and streamed rows differ
// only in how they become a source of blocks.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "base/views.h"
#include "model/estimator/local_choice.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/local.h"
#include "model/map_from_rows.h"
#include "model/outputs/output_coupling.h"
#include "model/posterior_prediction.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/prepare/row_summary.h"
#include "model/row_stream.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "model/select/selection.h"
#include "solver/lambda_path.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

constexpr int64_t kPasses = 4;  // over a stream; the first only reads
constexpr const char* kClassNumbers = "the class numbers of a stream's rows";
int64_t class_bytes(int64_t rows) { return checked_multiply(8, rows, kClassNumbers); }

/// Refuses options that several processes cannot share: they know only sums, extremes and quantiles
/// of each other's original inputs.
void check_shared(const Preparing& asked) {
  require(
      asked.missing == Missing::refuse, MERCER_UNSUPPORTED,
      "missing = fill of rows that several processes share, expected refuse: medians would take "
      "a column's numbers in one process");
  require(asked.scale == Scale::standard, MERCER_UNSUPPORTED,
          "scale = %s of rows that several processes share, expected standard: it would take a "
          "column's numbers in one process",
          word_of(asked.scale));
  require(asked.transform == Transform::none && asked.target_transform == Transform::none,
          MERCER_UNSUPPORTED,
          "transform or target_transform of rows that several processes share, expected none: "
          "curves would take a column's numbers in one process");
}

/// Refuses options that need rows or targets before they are read, or other processes' rows.
void check_streamed(const Fitting& asked, bool shared) {
  require(asked.prepare.missing != Missing::flag, MERCER_UNSUPPORTED,
          "missing = flag of a stream, whose flags cannot be counted before it is read: expected "
          "refuse or fill");
  const OutputStructure outputs = asked.outputs.structure;
  require(
      outputs == OutputStructure::independent || outputs == OutputStructure::given,
      MERCER_UNSUPPORTED,
      "outputs of a stream, expected independent or given: how they belong together is found in "
      "targets, of a sample of the rows in memory say");
  check_dependence(asked.select, {});
  require(!asks_local(asked.estimate.parameters), MERCER_UNSUPPORTED,
          "local fits of a stream, expected rows in memory, or local = \"off\"");
  if (!shared) return;
  check_shared(asked.prepare);
  require(!asked.select.ordered, MERCER_UNSUPPORTED,
          "ordered = true of rows that several processes share, expected false: each holds out "
          "rows of its own");
}

void warn_of_ends(double nats, Model& model) {
  std::vector<PathPoint> path = model.path;
  const Selecting& select = model.fit.select;
  if (select.selection == Selection::fixed || select.lambda_count != std::ssize(path)) return;
  for (PathPoint& point : path) point.score /= nats;
  std::ranges::move(end_warnings(path, select, path.front().score, false),
                    std::back_inserter(model.report.warnings));
}

void learn(const solver::BlockSource& rows, const Fitting& given, Context& context, Model& model) {
  Fitting asked = given;
  if (asked.select.selection != Selection::fixed && asked.coding.targets == Targets::given)
    asked.select.unit =
        lambda_unit(model.map->kernel(), asked.estimate.coupling.get(), rows, context);
  Learned learned =
      asked.estimate.entry->fit(rows, asked.estimate, asked.coding, asked.select, context);
  model.predictor = std::move(learned.predictor);
  model.fit = asked;
  model.fit.estimate.coupling = nullptr;      // only for the fit
  model.fit.coding.targets = Targets::given;  // likewise
  model.fit.select.lambda = learned.lambda;
  model.path = std::move(learned.path);
  model.calibration = std::move(learned.calibration);
  model.posterior = std::move(learned.posterior);
  model.report.components = std::move(learned.components);
  model.preimage = std::move(learned.preimage);
  model.report.run = learned.run;
  model.report.elbo = learned.elbo;
  const bool local = asks_local(asked.estimate.parameters);  // its prior is far from all rows
  if ((asked.estimate.entry->keeps_posterior && !local) || asked.estimate.entry->separate_classes)
    model.report.warnings = far_warnings(model, context);
  std::ranges::move(learned.warnings, std::back_inserter(model.report.warnings));
  const bool in_nats =  // the evidence of outputs that are joined
      asked.select.selection == Selection::evidence && asked.estimate.problem().is_coupled(rows);
  warn_of_ends(in_nats ? static_cast<double>(model.rows * rows.outputs()) : 1.0, model);
}

/// The coupling of outputs: the map's, or by the options and targets Y.
void couple(const feature::FeatureMap& map, MatrixView<const double> Y,
            std::span<const double> weights, Context& context, Fitting& asked) {
  Outputs& outputs = asked.outputs;
  check_outputs(map.kernel(), asked);
  asked.estimate.coupling = coupling_of(map, context);
  if (outputs.structure == OutputStructure::independent) return;
  const OutputRelations relations(outputs, asked.coding, Y, weights, solver::RowSet(Y.rows),
                                  context);
  if (outputs.structure != OutputStructure::given) outputs.weight = relations.weights().front();
  asked.estimate.coupling = relations.coupling(relations.weights().front(), context);
}

/// Checks of rows and targets that do not depend on the map.
void check_data(const Fitting& asked, const TargetedRows& rows) {
  solver::require_weights(rows.weights, rows.X.rows());
  check_rows("X", rows.X.rows(), solver::total_weight(rows.weights, rows.X.rows()));
  check_folds(asked.select, rows.X.rows());
  check_dependence(asked.select, rows.groups);
  check_numbers(asked.prepare.missing, rows.X);
  check_targets(asked.coding, rows.Y, may_miss_targets(asked.coding, *asked.estimate.entry));
  observed_of(rows.Y).require_some();
}

RowSummary summary_of(const Fitting& asked, std::optional<InputDomain> domain,
                      const TargetedRows& rows, Context& context) {
  const Found found = within(std::move(domain), asked.prepare, rows.X);
  RowSummary summary(asked.prepare, found, asked.select.seed, rows.X,
                     ranged_targets(asked.coding, rows.Y), rows.weights, context);
  summary.require_numbers();
  return summary;
}

/// made_of: as in FeatureRows.
Model fit_prepared(std::shared_ptr<const feature::FeatureMap> map, Preparation preparation,
                   Ranges ranges, Fitting asked, const TargetedRows& rows, Context& context,
                   std::vector<int64_t> made_of = {}) {
  check_row_norms(map->kernel(), preparation);
  couple(*map, rows.Y, rows.weights, context, asked);
  Model model;
  model.map = std::move(map);
  model.preparation = std::move(preparation);
  model.ranges = std::move(ranges);
  model.rows = rows.X.rows();
  learn(FeatureRows(*model.map, model.preparation, asked.coding, asked.estimate.precision, rows,
                    std::move(made_of)),
        asked, context, model);
  fit_local(model, rows, context);
  warn_of_vanishing(model, rows.X, context);
  observed_of(rows.Y).warn(model.report);
  return model;
}

}  // namespace

Model fit(std::shared_ptr<const feature::FeatureMap> map, const Fitting& asked, const Rows& X,
          MatrixView<const double> Y, Context& context, std::span<const double> weights,
          std::span<const double> groups) {
  check(asked);
  check_shapes(asked.coding, X.rows(), X.cols(), Y);
  check_map(*map, *asked.estimate.entry, prepared_inputs(asked.prepare, {}, X, weights));
  check_data(asked, {X, Y, weights, groups});
  const std::vector<double> relative = solver::relative_weights(weights);
  const TargetedRows rows{X, Y, relative, groups};
  const RowSummary summary = summary_of(asked, domain_of(map->kernel()), rows, context);
  return fit_prepared(std::move(map), summary.preparation(), summary.ranges(), asked, rows,
                      context);
}

Model fit(const MapFromRows& plan, const Fitting& asked, const Rows& X, MatrixView<const double> Y,
          Context& context, std::span<const double> weights, std::span<const double> groups) {
  check(asked);
  check_shapes(asked.coding, X.rows(), X.cols(), Y);
  check_inputs(plan.inputs, prepared_inputs(asked.prepare, {}, X, weights));
  check_data(asked, {X, Y, weights, groups});
  const std::vector<double> relative = solver::relative_weights(weights);
  const TargetedRows data{X, Y, relative, groups};
  const RowSummary summary = summary_of(asked, plan.domain, data, context);
  Preparation preparation = summary.preparation();
  const int64_t making = solver::eigen_rows(plan.features);
  Stage stage(context, making + 3 * X.rows() + solver::eigen_rows(plan.features));
  const std::vector<int64_t> from =
      plan.keeps_all_rows ? all_rows(X.rows()) : rows_that_count(weights, X.rows());
  const RowsForMap rows =
      rows_for_map(data, preparation, asked.coding, from,
                   plan.reads_all_rows ? X.rows() : plan.features, asked.select.seed, context);
  stage.share(making);
  auto map = plan.make(rows.X.view(), rows.Y.view(), context);
  stage.advance(making);
  stage.share(3 * X.rows() + solver::eigen_rows(plan.features));
  check_map(*map, *asked.estimate.entry, preparation.prepared(X.cols()));
  return fit_prepared(std::move(map), std::move(preparation), summary.ranges(), asked, data,
                      context, all_rows(X.rows()));
}

Model fit_stream(std::shared_ptr<const feature::FeatureMap> map, const Fitting& asked,
                 RowStream& stream, int64_t targets, Context& context) {
  const Found found{domain_of(map->kernel())};
  check_preparation(asked.prepare, found);
  check(asked);
  check_target_columns(asked.coding, "source->m", targets);
  solver::Reduction* const reduction = stream.reduction();
  check_streamed(asked, reduction != nullptr);
  check_map(*map, *asked.estimate.entry, map->inputs());
  Fitting coupled = asked;
  couple(*map, MatrixView<const double>(nullptr, 0, targets), {}, context, coupled);
  Model model;
  model.map = std::move(map);
  const CheckedStream checked(*model.map, asked, found, stream, targets, context);
  const bool numbers = asked.coding.task == Task::regression;
  RowSummary summary(asked.prepare, found, asked.select.seed, model.map->inputs(),
                     numbers ? targets : 0, context);
  ObservedTargets observed(targets);
  std::vector<double> classes;  // for stratified splits
  const Selection selection = asked.select.selection;
  const bool holds_out = selection == Selection::kfold || selection == Selection::held_out;
  Stage stage(context, kPasses);
  const int64_t rows = checked.pass(context, [&](int64_t, const RowStream::Block& block) {
    summary.add(block.X, ranged_targets(asked.coding, block.Y), block.weights);
    observed.add(block.Y);
    if (!holds_out) return;
    const std::vector<double> more = classes_of(asked.coding, block.Y);
    // Twice: they are copied as they grow.
    context.require_room(
        class_bytes(checked_multiply(2, std::ssize(classes) + std::ssize(more), kClassNumbers)),
        kClassNumbers);
    classes.insert(classes.end(), more.begin(), more.end());
  });
  stage.advance(1);
  stage.share(kPasses - 1);
  const MemoryCharge held = context.charge(class_bytes(std::ssize(classes)), kClassNumbers);
  if (reduction != nullptr) {
    summary.reduce(*reduction, context);
    observed.reduce(*reduction);
  }
  model.rows = summary.rows();
  check_rows("the stream", model.rows, summary.weight());
  check_folds(asked.select, model.rows);
  summary.require_numbers();
  observed.require_some();
  model.preparation = summary.preparation();
  check_row_norms(model.map->kernel(), model.preparation);
  model.ranges = summary.ranges();
  learn(StreamRows(checked, model.preparation, {rows, observed.is_complete(), classes}), coupled,
        context, model);
  observed.warn(model.report);
  return model;
}

}  // namespace mercer::model
