// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fit, from top to bottom at the end of this file: what is left open is settled, maps are
// proposed, rows are prepared, and the estimator learns from their features. A search, the default,
// takes over where maps are proposed: its page is the end of search/search.cpp, its last fit
// search/final_fit.cpp. Rows that are pulled differ from those in memory only in how they become
// blocks of features.
#include "model/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/size.h"
#include "base/views.h"
#include "kernel/custom.h"
#include "model/assess/assessment.h"
#include "model/assess/warnings.h"
#include "model/estimator/estimator_options.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/local.h"
#include "model/outputs/outputs.h"
#include "model/predict.h"
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
#include "solver/ridge_system.h"
#include "solver/row_weights.h"

namespace mercer::model {
namespace {

// The maps of a fit.

/// One that is ready, or the plan's: for a search, or to be made from rows.
struct Proposal {
  GivenMap map = nullptr;                         // null: made from rows
  std::unique_ptr<PartialMap> partial = nullptr;  // null: the caller's map
  double lengthscale = 0;                         // 0: the median distance of rows,
  double factor = 1;                              // times this
  int64_t features = 0;
};

/// A single lengthscale in the spec is kept; lengthscales per input, and of parts, are multiplied
/// by a factor, which is searched.
double fixed_lengthscale(const FitPlan& plan, const PartialMap& partial) {
  const double asked = plan.search.lengthscale;
  require(asked == 0 || partial.has_lengthscale(), MERCER_UNSUPPORTED,
          "lengthscale = %g, expected it left out for a kernel without a lengthscale", asked);
  const double own = partial.gives_lengthscale() ? partial.lengthscale().value_or(0) : 0;
  require(asked == 0 || own == 0 || asked == own, MERCER_INVALID_ARGUMENT,
          "lengthscale = %g beside map.kernel.lengthscale = %g, expected one of the two", asked,
          own);
  return asked > 0 ? asked : own;
}

/// Without a search: the plan's lengthscale, or 0 where the rows' median distance is to take its
/// place. With targets, lengthscales that parts of the kernel give are kept.
double plain_lengthscale(const FitPlan& plan, const PartialMap& partial, const FitData& data) {
  if (plan.search.lengthscale > 0) return plan.search.lengthscale;
  if (partial.start() > 0) return 1;
  const bool open = partial.has_lengthscale() && (partial.lengthscale() || !has_targets(plan));
  const bool pulled = data.source != nullptr;
  require(!open || !pulled || has_targets(plan), MERCER_INVALID_ARGUMENT,
          "key \"lengthscale\" is missing, expected a number: of %s there is no median distance",
          kOfSource);
  return open && !pulled ? 0 : partial.lengthscale().value_or(1);
}

/// What a search that is to end in map exact goes by: the maps of a spec that leaves the map open,
/// which try other kernels and lengthscales for each input. Null where only kernel values serve.
std::unique_ptr<PartialMap> maps_before_exact(const FitPlan& plan, const FitData& data,
                                              int64_t inputs) {
  const FitOptions& fit = plan.search.fit;
  const bool plain = (!is_fitted_last(fit.estimate) || fit.estimate.entry->keeps_posterior) &&
                     plan.search.estimator != Estimator::logistic &&
                     fit.outputs.structure == OutputStructure::independent;
  const MatrixView<const double>& Y = data.rows.Y;
  if (!plan.searches || !plain || data.rows.X.sparse() || !is_complete(Y, solver::RowSet(Y.rows)))
    return nullptr;
  Parameters open;
  for (const auto& [key, value] : plan.map.entries())
    if (key != "map") open.set(key, value);
  try {
    auto partial = partial_map(std::move(open), inputs, fit.select.seed);
    return partial->leaves_map() && partial->exact() != nullptr ? std::move(partial) : nullptr;
  } catch (const Error& error) {
    if (error.status() != MERCER_UNSUPPORTED) throw;
    return nullptr;  // the kernel has no map of features
  }
}

/// The plan's maps for these rows, by which the plan is completed.
std::unique_ptr<PartialMap> partial_of(FitPlan& plan, const FitData& data) {
  const auto& [X, Y, weights, groups] = data.rows;
  PreparationOptions& prepare = plan.search.fit.prepare;
  int64_t inputs = data.inputs;
  if (data.source == nullptr) {
    if (X.sparse()) prepare.buckets = hash_buckets(plan.map, X.cols());
    if (plan.searches)
      plan.search.few_missing = leave_out_rare_flags(prepare, plan.search.flagged, X, weights);
    inputs = prepared_inputs(prepare, plan.search.flagged, X, weights);
  }
  auto partial = partial_map(plan.map, inputs, plan.search.fit.select.seed);
  follow_kernel(*partial->kernel(), plan);
  plan.search.lengthscale = fixed_lengthscale(plan, *partial);
  if (!partial->keeps_all_rows()) return partial;
  require(plan.search.fit.keep == Keep::nothing, MERCER_UNSUPPORTED, kKeptOfKernel);
  require(!plan.search.given_features, MERCER_INVALID_ARGUMENT,
          "map.features of map exact, expected it left out: there is one for each row");
  require(plan.search.most_features == 0, MERCER_UNSUPPORTED,
          "most_features = %ld of map exact, expected it left out: there is one for each row",
          plan.search.most_features);
  auto before = maps_before_exact(plan, data, inputs);
  plan.search.takes_kernel = before != nullptr;
  return before != nullptr ? std::move(before) : std::move(partial);
}

Proposal propose(FitPlan& plan, const FitData& data) {
  if (data.map != nullptr) return {data.map};
  Proposal made{nullptr, partial_of(plan, data)};
  PartialMap& partial = *made.partial;
  if (plan.searches) {
    partial.take_unit_diagonal();
    partial.take_ratio();
    return made;
  }
  require(data.source == nullptr || !partial.requires_rows(), MERCER_UNSUPPORTED,
          "map of %s is made from rows, expected another, or data->map made of a sample before",
          kOfSource);
  made.lengthscale = plain_lengthscale(plan, partial, data);
  made.features = partial.keeps_all_rows()
                      ? partial.features_of(plan.search.features, data.rows.X.rows())
                      : plan.search.features;
  if (made.lengthscale > 0 && (data.source != nullptr || !partial.needs_rows()))
    made.map = partial.make(made.lengthscale, made.features);
  return made;
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
  if (!partial.needs_rows()) return partial.make(lengthscale, proposal.features);
  return partial.make_from(lengthscale, proposal.features, prepared, rows.Y.view(), context);
}

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
      asked.estimate.entry->fit(rows, asked.estimate, asked.coding, asked.select, context);
  model.fit = asked;
  model.fit.estimate.coupling = nullptr;  // only for the fit
  model.fit.estimate.map = nullptr;
  model.fit.coding.targets = Targets::given;  // likewise
  model.fit.select.lambda = learned.lambda;
  model.path = std::move(learned.path);
  take_fit(learned, model, model.report);
  const bool local = asks_local(asked.estimate.parameters);  // its prior is far from all rows
  if ((asked.estimate.entry->keeps_posterior && !local) || asked.estimate.entry->separate_classes)
    model.report.warnings = far_warnings(model, context);
  model.report.warn(learned.warnings);
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

// The fit of one map: checks, preparation, map, estimator.

Model fit_rows(const Proposal& proposal, FitOptions asked, const TargetedRows& given,
               Context& context) {
  const auto& [X, Y, given_weights, groups] = given;
  check(asked);
  check_shapes(asked.coding, X.rows(), X.cols(), Y);
  if (proposal.map != nullptr)
    check_inputs(proposal.map->inputs(), prepared_inputs(asked.prepare, {}, X, given_weights));
  check_data(asked, given);
  const ObservedTargets observed = observed_of(Y);
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

/// The lengthscale whose model describes rows held out best, by a walk downhill from the median
/// distance: by factors of 2, then of the root of 2. fit_at: at a factor of that distance.
Model walk_lengthscale(const std::function<Model(double factor)>& fit_at, Context& context) {
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
  LambdaPlan walk{{}, 1, 1, 2, kCoarse, kLeastFactor};
  walk_lambda(walk, loss_at);
  walk = {{}, 1, factor, std::numbers::sqrt2, kFine, kLeastFactor};
  walk_lambda(walk, loss_at);
  return std::move(*best);
}

// Sets of observations.

constexpr int64_t kLeastOfSets = 256;  // features where none are given, and more only of more rows

/// The rows of all sets.
Matrix<double> places_of(std::span<const Observations> sets, Context& context) {
  int64_t rows = 0;
  for (const Observations& set : sets) rows = checked_add(rows, set.X.rows, "rows of sets");
  const int64_t d = sets.empty() ? 0 : sets[0].X.cols;
  require(rows > 0 && d > 0, MERCER_INVALID_ARGUMENT,
          "no observations, expected sets[0] with at least one row and one input");
  Matrix<double> places(rows, d, context, "the rows of all sets");
  int64_t first = 0;
  for (const Observations& set : sets) {
    require(set.X.cols == d, MERCER_DIMENSION_MISMATCH,
            "a set of observations has %ld inputs, expected %ld as sets[0]", set.X.cols, d);
    solver::copy_rows(set.X, places.view().block_rows(first, first + set.X.rows));
    first += set.X.rows;
  }
  return places;
}

/// The plan's maps of the places of all sets, for any lengthscale.
class MapsOfPlaces {
 public:
  /// plan: of these sets, whose numbers are finite.
  MapsOfPlaces(FitPlan& plan, std::span<const Observations> sets, Context& context)
      : places_(places_of(sets, context)),
        partial_(partial_map(plan.map, places_.cols(), plan.search.fit.select.seed)),
        lengthscale_(fixed_lengthscale(plan, *partial_)) {
    const int64_t n = places_.rows();
    features_ = plan.search.given_features ? plan.search.features
                                           : std::min(default_features(n, places_.cols(), context),
                                                      std::max(n, kLeastOfSets));
    features_ = partial_->features_of(features_, n);
    if (lengthscale_ > 0 || !partial_->has_lengthscale()) return;
    lengthscale_ = partial_->start();
  }
  /// 0: open.
  double lengthscale() const { return partial_->has_lengthscale() ? lengthscale_ : 1; }
  double median(uint64_t seed, Context& context) const {
    return median_lengthscale<double>({}, places_.view(), all_rows(places_.rows()), seed, context);
  }
  GivenMap at(double lengthscale, Context& context) const {
    if (!partial_->needs_rows()) return partial_->make(lengthscale, features_);
    return partial_->make_from(lengthscale, features_,
                               Rows(MatrixView<const double>(places_.view())),
                               MatrixView<const double>(), context);
  }

 private:
  Matrix<double> places_;
  std::unique_ptr<const PartialMap> partial_;
  double lengthscale_;
  int64_t features_;
};

/// By the caller's map, or the plan's.
Model fit_sets(FitPlan& plan, const FitData& data, Context& context) {
  const HermiteOptions options = options_of_sets(plan, data.map != nullptr);
  if (data.map != nullptr) return fit_hermite(data.map, *data.sets, options, context);
  check_finite(*data.sets);
  const MapsOfPlaces maps(plan, *data.sets, context);
  const auto fit_at = [&](double lengthscale) {
    return fit_hermite(maps.at(lengthscale, context), *data.sets, options, context);
  };
  if (maps.lengthscale() > 0) return fit_at(maps.lengthscale());
  require(options.select.has_value(), MERCER_INVALID_ARGUMENT,
          "\"lambda\" of sets of observations and a lengthscale that is left open, expected "
          "map.kernel.lengthscale, or both left open");
  const double median = maps.median(plan.search.fit.select.seed, context);
  return walk_lengthscale([&](double factor) { return fit_at(factor * median); }, context);
}

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

// A search of rows that are not in memory: of a sample of them, whose choice is fitted to all.

constexpr int64_t kSampledUnits = 10;  // of progress
constexpr int64_t kSampling = 1, kSearching = 3;

/// One pass, checked as a search checks rows.
StreamSample sample_of(const FitPlan& plan, const FitData& data, Context& context) {
  FitOptions checks = plan.search.fit;
  if (!is_fitted_last(checks.estimate)) checks.estimate.entry = &ridge_model();
  if (checks.coding.task == Task::classification && checks.coding.classes == 0)
    checks.coding.classes = kMostClasses;
  const CheckedStream stream(checks, *data.source, data.inputs, data.targets);
  const double share = plan.search.assess ? kUnseenShare : 0;
  const SampleSize size{plan.sampled, share, std::min(kMostUnseen, plan.sampled / 4)};
  return {stream, size, checks.select.seed, context};
}

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

/// What an earlier run of the fit has found, whose trials are told again, or what `search` finds.
template <class Search>
Model kept_search(const SearchOptions& asked, RowStream& source, const Search& search) {
  FitKeeper* const keeper = source.keeper();
  if (keeper == nullptr) return search();
  std::unique_ptr<Model> kept = keeper->searched();
  if (kept != nullptr) {
    for (const SearchCandidate& trial : kept->report.trials)
      if (asked.report != nullptr) asked.report(asked.user, trial);
  } else {
    Model found = search();
    if (found.sums == nullptr) found.fit.keep = Keep::nothing;  // those of all rows come later
    kept = keeper->keep_search(found);  // whose report may differ in the last digit
    for (size_t k = 0; k < found.report.trials.size(); ++k)
      kept->report.trials[k].seconds = found.report.trials[k].seconds;
  }
  kept->fit.keep = asked.fit.keep;
  return std::move(*kept);
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
  settle_data(plan, data);
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

/// Lambda of least squares is chosen again, from the sums of many rows per feature, else by
/// leave-one-out. Other losses keep n lambda: they would read all rows for each lambda.
SelectionOptions selection_of_all(const FitPlan& plan, const Model& found, double rows,
                                  bool is_complete) {
  SelectionOptions select = plan.search.fit.select;
  const ModelEntry& entry = *found.fit.estimate.entry;
  const bool given = plan.search.lambda >= 0;
  select.lambda = found.fit.select.lambda;
  if (!given && entry.selection == Selection::leave_one_out) {
    const bool sums = is_complete && !found.map->is_complex() && found.map->outputs() == 1 &&
                      found.fit.outputs.structure == OutputStructure::independent &&
                      rows >= kGcvRows * static_cast<double>(found.map->features());
    if (select.selection != Selection::evidence)
      select.selection = sums ? Selection::gcv : Selection::leave_one_out;
    return select;
  }
  select.selection = Selection::fixed;
  select.chosen = !given;
  if (!given) select.lambda *= static_cast<double>(found.rows) / rows;
  return select;
}

/// The score of rows that neither the search nor the fit has seen.
void assess_sampled(const StreamSample& sample, Context& context, Model& model) {
  const TargetedRows rows = sample.rows();
  const std::vector<double> relative = solver::relative_weights(rows.weights);
  const std::vector<int64_t>& unseen = sample.unseen();
  if (unseen.empty()) return;
  const SplitRule rule{classes_of(model.fit.coding, rows.Y)};
  model.report.assessment =
      assess_unseen(model, {rows.X, rows.Y, relative}, rows_without(rows.X.rows(), sample.unseen()),
                    unseen, rule, context);
}

constexpr double kFarBeyond = 10;  // times the range of the sampled numbers

/// About columns of which rows beyond the sample hold numbers far from the sampled ones, by which no
/// choice was made.
void warn_beyond(const char* what, std::span<const Range> sampled, std::span<const Range> all,
                 FitReport& report) {
  for (size_t j = 0; j < std::min(sampled.size(), all.size()); ++j) {
    const Range &of = sampled[j], &reached = all[j];
    const double far = kFarBeyond * (of.highest - of.lowest);
    if (reached.lowest >= of.lowest - far && reached.highest <= of.highest + far) continue;
    report.warnings.push_back(text(
        "%s %ld reaches from %.9g to %.9g, far beyond the rows of the sample, which reach from "
        "%.9g to %.9g and by which everything was chosen: if these numbers are errors, leave "
        "their rows out",
        what, j, reached.lowest, reached.highest, of.lowest, of.highest));
  }
}

/// The search's report with what the fit of all rows has found.
FitReport joined_report(FitReport of_search, const Model& model) {
  FitReport report = std::move(of_search);
  report.lambda = model.fit.select.lambda;
  report.dimension = model.posterior ? model.posterior->effective_dimension() : kNaN;
  report.run = model.report.run;
  report.elbo = model.report.elbo;
  report.log_evidence = model.report.log_evidence;
  for (const std::string& warning : model.report.warnings)
    if (std::ranges::find(report.warnings, warning) == report.warnings.end())
      report.warnings.push_back(warning);
  return report;
}

/// Adds the fit of all rows, and its score, to the trials.
void record_all(const SearchOptions& search, double seconds, Model& model) {
  FitReport& report = model.report;
  const auto record = [&](int64_t stage, int64_t rows, double score, double took) {
    SearchCandidate trial = report.trials.back();
    trial.stage = stage;
    trial.rows = rows;
    trial.lambda = model.fit.select.lambda;
    trial.score = score;
    trial.loss = kNaN;
    trial.seconds = took;
    report.trials.push_back(trial);
    if (search.report != nullptr) search.report(search.user, trial);
  };
  const Assessment& assessment = report.assessment;
  record(kChoiceStage, model.rows, kNaN, seconds);
  if (assessment.kind != AssessmentRows::none)
    record(kScoreStage, assessment.rows, 1 - assessment.score, 0);
}

/// The fit of all rows but the unseen ones as the search of a sample has chosen.
Model fit_all(const FitPlan& plan, const FitData& data, const StreamSample& sample, Model found,
              Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const double rows = sample.counts().rows - static_cast<double>(std::ssize(sample.unseen()));
  FitOptions asked = found.fit;
  asked.select = selection_of_all(plan, found, rows, sample.counts().missing == 0);
  const SampledChoice choice{found.preparation, sample.own_unseen(), sample.own_rows(),
                             sample.counts().missing == 0};
  Model model = fit_source(found.map, asked, data, context, &choice);
  warn_beyond("input", found.ranges.inputs, model.ranges.inputs, found.report);
  warn_beyond("target", found.ranges.targets, model.ranges.targets, found.report);
  if (model.calibration.empty() || !found.fit.estimate.entry->least_squares)
    model.calibration = found.calibration;
  model.report = joined_report(std::move(found.report), model);
  assess_sampled(sample, context, model);
  model.report.warn(score_warnings(model.fit.estimate.parameters, model.fit.coding.task,
                                   model.report.assessment));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  record_all(plan.search, took.count(), model);
  return model;
}

Model fit_sampled(FitPlan plan, const FitData& data, Context& context) {
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
  return found;
}

}  // namespace

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
    return walk_lengthscale(fit_at, context);
  }
  if (data.source == nullptr) return fit_rows(proposal, plan.search.fit, data.rows, context);
  count_classes(plan, data);
  return fit_source(proposal.map, plan.search.fit, data, context);
}

}  // namespace mercer::model
