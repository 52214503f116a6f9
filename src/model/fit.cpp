// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fit, whose page is the function `fit` at the end of this file: what is left open is settled and
// maps are proposed (fit_plan.cpp), rows are prepared, and the estimator learns from their features.
// A search, the default, takes over where maps are proposed: its page is the end of
// search/search.cpp, its last fit search/final_fit.cpp. Rows that are pulled differ from those in
// memory only in how they become blocks of features.
#include "model/fit.h"

#include <chrono>
#include <functional>
#include <numbers>
#include <optional>
#include <utility>

#include "base/error.h"
#include "kernel/custom.h"
#include "model/assess/warnings.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/hermite.h"
#include "model/local.h"
#include "model/outputs/outputs.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_coding.h"
#include "model/prepare/row_summary.h"
#include "model/rows/feature_rows.h"
#include "model/rows/median_lengthscale.h"
#include "model/rows/row_sets.h"
#include "model/search/partial_map.h"
#include "model/search/search.h"
#include "model/select/selection.h"
#include "model/stream_sample.h"
#include "model/update.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

// What the estimator learns.

void warn_of_path_ends(double nats, Model& model) {
  std::vector<PathPoint> path = model.path;
  const SelectionOptions& select = model.fit.select;
  if (select.selection == Selection::fixed || select.lambda_count != std::ssize(path)) return;
  for (PathPoint& point : path) point.score /= nats;
  model.report.warn(end_warnings(path, select, path.front().score, false));
}

/// What the estimator sees of the model's map.
void take_map(const feature::FeatureMap& map, const solver::BlockSource& rows, FitOptions& asked,
              Context& context) {
  asked.estimate.map = &map;
  if (asked.select.selection != Selection::fixed)
    asked.select.unit = lambda_unit(map.kernel(), asked.estimate.coupling.get(), rows, context);
}

void learn(const solver::BlockSource& rows, FitOptions asked, Context& context, Model& model) {
  take_map(*model.map, rows, asked, context);
  EstimatorFit learned =
      asked.estimate.given != nullptr
          ? EstimatorFit{asked.estimate.given, asked.select.lambda, {}, {}}
          : asked.estimate.entry->fit(rows, asked.estimate, asked.coding, asked.select, context);
  model.fit = asked;
  model.fit.estimate.coupling = nullptr;  // only for the fit
  model.fit.estimate.map = nullptr;
  model.fit.estimate.given = nullptr;
  model.fit.coding.targets = Targets::given;  // likewise
  model.fit.select.lambda = learned.lambda;
  model.path = std::move(learned.path);
  take_fit(learned, model, model.report);
  const bool local = asks_local(asked.estimate.parameters);  // its prior is far from all rows
  if (!local && (asked.estimate.entry->keeps_posterior || asked.estimate.entry->separate_classes))
    model.report.warnings = far_warnings(model, context);
  model.report.warn(learned.warnings);
  model.report.warn(residual_warnings(learned.run.residual, learned.lambda));
  const bool in_nats =  // the evidence of outputs that are joined
      asked.select.selection == Selection::evidence && asked.estimate.problem().is_coupled(rows);
  if (asked.coding.targets != Targets::given) return;
  warn_of_path_ends(in_nats ? static_cast<double>(model.rows * rows.outputs()) : 1.0, model);
}

/// Of rows in memory, by which the kernel's parameters may be learnt before.
void learn_in_memory(const FeatureRows& rows, FitOptions asked, Context& context, Model& model) {
  if (!learns_kernel(asked.estimate)) return learn(rows, std::move(asked), context, model);
  Stage stage(context, 2);
  stage.share(1);
  take_map(*model.map, rows, asked, context);
  const LearntKernel learnt =
      asked.estimate.entry->learn_kernel(rows, asked.estimate, asked.select, context);
  stage.advance(1);
  stage.share(1);
  if (learnt.map != nullptr) model.map = learnt.map;
  if (learnt.lambda > 0) asked.select.fix(learnt.lambda);
  learn(rows.under(*model.map), std::move(asked), context, model);
  if (learnt.map == nullptr) model.report.warnings.emplace_back(kGivenKernel);
  stage.advance(1);
}

/// The coupling of outputs: the map's, or by the options and targets Y.
void couple(const feature::FeatureMap& map, MatrixView<const double> Y,
            std::span<const double> weights, Context& context, FitOptions& asked) {
  Outputs& outputs = asked.outputs;
  check_outputs(map.kernel(), asked);
  asked.estimate.coupling = coupling_of(map, context);
  if (outputs.structure == OutputStructure::independent) return;
  const OutputRelations relations(outputs, asked.coding, Y, weights, solver::RowSet(Y.rows),
                                  context);
  if (outputs.structure != OutputStructure::given) outputs.weight = relations.weights().front();
  asked.estimate.coupling = relations.coupling(relations.weights().front(), context);
}

// Rows in memory: checks, preparation, map, estimator.

/// The map of a proposal at a lengthscale, of prepared rows.
GivenMap map_at(const Proposal& proposal, double lengthscale, const Rows& rows,
                MatrixView<const double> targets, Context& context) {
  const PartialMap& partial = *proposal.partial;
  if (!partial.needs_rows()) return partial.make(lengthscale, proposal.features);
  return partial.make_from(lengthscale, proposal.features, rows, targets, context);
}

/// The map that a proposal leaves to the prepared rows, or to a sample of those that count.
GivenMap map_of_rows(const Proposal& proposal, const FitOptions& asked,
                     const Preparation& preparation, const TargetedRows& data, Context& context) {
  const PartialMap& partial = *proposal.partial;
  const int64_t n = data.X.rows();
  const bool keeps = partial.keeps_all_rows();  // also those of weight 0
  const RowsForMap rows = rows_for_map(
      data, preparation, asked.coding, keeps ? all_rows(n) : rows_that_count(data.weights, n),
      partial.reads_all_rows() ? n : proposal.features, asked.select.seed, context);
  const Rows prepared = rows.X.view();
  double lengthscale = proposal.lengthscale;
  if (lengthscale == 0) {
    const std::vector<int64_t> counting =
        rows_that_count(keeps ? data.weights : std::span<const double>(), prepared.rows());
    lengthscale = prepared.visit([&](const auto& X) {
      return proposal.factor * median_lengthscale({}, X, counting, asked.select.seed, context);
    });
  }
  return map_at(proposal, lengthscale, prepared, rows.Y.view(), context);
}

Model fit_rows(const Proposal& proposal, FitOptions asked, const TargetedRows& given,
               Context& context) {
  const auto& [X, Y, given_weights, groups] = given;
  check(asked);
  check_shapes(asked.coding, X.rows(), X.cols(), Y);
  if (proposal.map != nullptr)
    check_inputs(proposal.map->inputs(), prepared_inputs(asked.prepare, {}, X, given_weights));
  check_data(asked, given);
  const ObservedTargets observed = observed_of(Y, given_weights);
  observed.require_some();
  const std::vector<double> weights = solver::relative_weights(given_weights);
  const TargetedRows rows{X, Y, weights, groups};
  const PreparationFacts found = within(
      proposal.map != nullptr ? domain_of(proposal.map->kernel()) : proposal.partial->domain(),
      asked.prepare, X);
  RowSummary summary(asked.prepare, found, asked.select.seed, X, ranged_targets(asked.coding, Y),
                     weights, context);
  summary.require_numbers();
  Model model;
  model.rows = X.rows();
  model.preparation = summary.preparation();
  model.ranges = summary.ranges();
  model.map = proposal.map;
  std::vector<int64_t> made_of;
  std::optional<Stage> stage;
  if (model.map == nullptr) {
    const int64_t making = solver::eigen_rows(proposal.features);
    const int64_t rest = 3 * X.rows() + making;
    stage.emplace(context, making + rest);
    stage->share(making);
    model.map = map_of_rows(proposal, asked, model.preparation, rows, context);
    made_of = all_rows(X.rows());
    stage->advance(making);
    stage->share(rest);
    check_inputs(model.map->inputs(), model.preparation.prepared(X.cols()));
  }
  check_row_norms(model.map->kernel(), model.preparation);
  couple(*model.map, Y, weights, context, asked);
  check_kept(asked, *model.map);
  check_local_rows(asked.estimate.parameters, *model.map, X);
  FeatureRows features(*model.map, model.preparation, asked.coding, asked.estimate.precision, rows,
                       std::move(made_of));
  if (!asked.estimate.entry->least_squares) features.take_real_parts();
  learn_in_memory(features, asked, context, model);
  keep_sums(features, solver::weight_unit(given_weights), context, model);
  fit_local(model, rows, context);
  warn_of_vanishing(model, X, context);
  observed.warn(model.report);
  return model;
}

// Rows of a source: likewise, in several passes.

/// Passes: one for the preparation, one for the statistics, one more for leave-one-out, two more for
/// each fold or held-out part, which map only the rows they need; with missing targets these for
/// each output, and some to count them. The same row numbers are held out as from memory. Memory:
/// as fit_rows, and a block. Processes that share the rows get the same model, of all rows; each
/// holds out rows of its own. choice: null, or what a search has found: then the preparation is its,
/// and rows are left out.
Model fit_source(GivenMap map, FitOptions asked, const FitData& data, Context& context,
                 const SampledChoice* choice = nullptr) {
  constexpr int64_t kPasses = 4;  // the first only reads
  RowStream& source = *data.source;
  solver::Reduction* const reduction = source.reduction();
  const PreparationFacts found{domain_of(map->kernel())};
  if (choice == nullptr) check_preparation(asked.prepare, found);
  check(asked);
  check_target_columns(asked.coding, "source->m", data.targets);
  check_streamed(asked, reduction != nullptr, choice != nullptr);
  source.agree(*map, asked);
  couple(*map, MatrixView<const double>(nullptr, 0, data.targets), {}, context, asked);
  check_kept(asked, *map);
  Model model;
  model.map = std::move(map);
  const CheckedStream checked(*model.map, asked, found, source, data.targets, context, choice);
  FitOptions summarised = asked;
  if (choice != nullptr) summarised.prepare = {.standardize = false};
  StreamSummary summary(summarised, found, checked.inputs(), data.targets, context);
  Stage stage(context, kPasses);
  checked.pass(
      context, [&](int64_t, const RowStream::Block& block) { summary.add(block); },
      [&](StateBytes& state) { summary.keep(state); });
  stage.advance(1);
  stage.share(kPasses - 1);
  summary.finish(reduction);
  model.rows = summary.rows.rows();
  check_rows("source", model.rows, summary.rows.weight());
  check_folds(asked.select, model.rows);
  summary.rows.require_numbers();
  summary.observed.require_some();
  require(choice == nullptr || !choice->is_complete || summary.observed.is_complete(),
          MERCER_INVALID_ARGUMENT,
          "the stream gave targets that are NaN when it began again, expected the same rows");
  model.preparation = choice == nullptr ? summary.rows.preparation() : choice->preparation;
  check_row_norms(model.map->kernel(), model.preparation);
  model.ranges = summary.rows.ranges();
  StreamRows features(checked, model.preparation, summary);
  if (!asked.estimate.entry->least_squares) features.take_real_parts();
  learn(features, asked, context, model);
  keep_sums(features, checked.weight_unit(), context, model);
  summary.observed.warn(model.report);
  return model;
}

// A walk, of a fit that chooses lambda alone.

/// At the lengthscale whose model describes rows held out best, by a walk downhill from the median
/// distance: by factors of 2, then of the root of 2. fit_at: at a factor of that distance.
Model fit_at_best_lengthscale(const std::function<Model(double factor)>& fit_at, Context& context) {
  constexpr int64_t kCoarse = 6, kFine = 4;
  constexpr double kLeastFactor = 1.0 / 64;
  Stage stage(context, kCoarse + kFine);
  std::optional<Model> best;
  double factor = 1, least = kInfinity;
  const auto loss_at = [&](double by) {
    if (best && by == factor) return least;
    stage.share(1);
    Model model = fit_at(by);
    stage.advance(1);
    const double loss = best_point(model.path).score;
    if (!best || loss < least) {
      best = std::move(model);
      factor = by;
      least = loss;
    }
    return loss;
  };
  WalkPlan walk{{}, 1, 1, 2, kCoarse, kLeastFactor};
  walk_downhill(walk, loss_at);
  walk = {{}, 1, factor, std::numbers::sqrt2, kFine, kLeastFactor};
  walk_downhill(walk, loss_at);
  return std::move(*best);
}

// Sets of observations.

/// By the caller's map, or the plan's.
Model fit_sets(FitPlan& plan, const FitData& data, Context& context) {
  const HermiteOptions options = options_of_sets(plan, data.map != nullptr);
  if (data.map != nullptr) return fit_hermite(data.map, *data.sets, options, context);
  check_finite(*data.sets);
  const Matrix<double> places = all_places(*data.sets, context);
  const MatrixView<const double> X = places.view();
  const Proposal proposal = propose(plan, X, context);
  const auto fit_at = [&](double lengthscale) {
    return fit_hermite(map_at(proposal, lengthscale, Rows(X), {}, context), *data.sets, options,
                       context);
  };
  if (proposal.lengthscale > 0) return fit_at(proposal.lengthscale);
  require(options.select.has_value(), MERCER_INVALID_ARGUMENT,
          "\"lambda\" of sets of observations and a lengthscale that is left open, expected "
          "map.kernel.lengthscale, or both left open");
  const double median =
      median_lengthscale<double>({}, X, all_rows(X.rows), plan.search.fit.select.seed, context);
  return fit_at_best_lengthscale([&](double factor) { return fit_at(factor * median); }, context);
}

// Searches: of rows in memory, and of a sample of a source, whose choice is fitted to all.

/// A search of rows in memory, which keeps their sums if it is to.
Model search_rows(const PartialMap& partial, const SearchOptions& asked, const TargetedRows& rows,
                  Context& context) {
  Model model = search(partial, asked, rows, context);
  if (model.fit.keep == Keep::nothing) return model;
  const std::vector<double> weights = solver::relative_weights(rows.weights);
  const FeatureRows features(*model.map, model.preparation, model.fit.coding,
                             model.fit.estimate.precision, {rows.X, rows.Y, weights});
  keep_sums(features, solver::weight_unit(rows.weights), context, model);
  return model;
}

/// The search of the sample of the source, as of these rows in memory.
Model search_sample(FitPlan& plan, const StreamSample& sample, RowStream& source,
                    Context& context) {
  const FitData data{.rows = sample.rows()};
  TargetOptions& coding = plan.search.fit.coding;
  const StreamCounts& counts = sample.counts();
  check_rows("source", static_cast<int64_t>(counts.rows), counts.rows);
  if (coding.task == Task::classification && coding.classes == 0)
    coding.classes = class_count(counts.largest_class, counts.of_class_0 > 0, data.rows.Y);
  settle_rows(plan, data);
  const Proposal proposal = propose(plan, data);
  require(!proposal.partial->keeps_all_rows() && !plan.search.takes_kernel, MERCER_UNSUPPORTED,
          "map exact of a search of %s, expected a map of features", kOfSource);
  SearchOptions& search = plan.search;
  search.unseen = sample.unseen();
  // As a search of all rows would, whose features do not fit the cache.
  const int64_t features =
      search.given_features
          ? search.features
          : default_features(static_cast<int64_t>(counts.rows), sample.rows().X.cols(), context);
  const double bytes = counts.rows * static_cast<double>(features) * sizeof(float);
  if (search.estimator == Estimator::automatic &&
      bytes > static_cast<double>(solver::kMostCachedBytes))
    search.estimator = Estimator::ridge;
  return kept_search(search, source, [&] {
    return sample.has_all_rows() ? search_rows(*proposal.partial, search, data.rows, context)
                                 : model::search(*proposal.partial, search, data.rows, context);
  });
}

/// The fit of all rows but the unseen ones as the search of a sample has chosen.
Model fit_all(const FitPlan& plan, const FitData& data, const StreamSample& sample, Model found,
              Context& context) {
  const auto start = std::chrono::steady_clock::now();
  FitOptions asked = found.fit;
  asked.select = selection_of_all(plan, found, sample);
  const SampledChoice choice{found.preparation, sample.own_unseen(), sample.own_rows(),
                             sample.counts().missing == 0};
  Model model = fit_source(found.map, asked, data, context, &choice);
  join_search(plan, sample, std::move(found), start, context, model);
  return model;
}

Model fit_sampled(FitPlan plan, const FitData& data, Context& context) {
  constexpr int64_t kSampledUnits = 10, kSampling = 1, kSearching = 3;  // of progress
  RowStream& source = *data.source;
  require(source.reduction() == nullptr || plan.search.budget == 0, MERCER_UNSUPPORTED,
          "budget of rows that several processes share, expected it left out: each process would "
          "leave out something else");
  check_target_columns(plan.search.fit.coding, "source->m", data.targets);
  source.agree_on_search();
  Stage stage(context, kSampledUnits);
  const StreamSample sample = stage.part(kSampling, [&] { return sample_of(plan, data, context); });
  const bool whole = sample.has_all_rows();
  Model found = stage.part(whole ? kSampledUnits - kSampling : kSearching,
                           [&] { return search_sample(plan, sample, source, context); });
  if (!whole)
    return stage.part(kSampledUnits - kSampling - kSearching,
                      [&] { return fit_all(plan, data, sample, std::move(found), context); });
  source.agree(*found.map, found.fit);
  sample.warn(found.report);
  return found;
}

}  // namespace

// The page.

Model fit(FitPlan plan, const FitData& data, Context& context) {
  const kernel::CustomPin pin;  // a spec means one kernel, whatever is registered meanwhile
  if (data.sets) return fit_sets(plan, data, context);
  settle_data(plan, data);
  if (plan.searches && data.source != nullptr) return fit_sampled(std::move(plan), data, context);
  Proposal proposal = propose(plan, data);
  if (plan.searches) return search_rows(*proposal.partial, plan.search, data.rows, context);
  if (plan.walks && proposal.map == nullptr && proposal.lengthscale == 0) {
    const auto fit_at = [&](double factor) {
      proposal.factor = factor;
      return fit_rows(proposal, plan.search.fit, data.rows, context);
    };
    return fit_at_best_lengthscale(fit_at, context);
  }
  if (data.source == nullptr) return fit_rows(proposal, plan.search.fit, data.rows, context);
  count_classes(plan, data);
  return fit_source(proposal.map, plan.search.fit, data, context);
}

}  // namespace mercer::model
