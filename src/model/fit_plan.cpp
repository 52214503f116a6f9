// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a plan comes to before its data are read, what the data decide of it, which keys exclude
// each other, and the maps that it asks for.
#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/estimator/gp_model.h"
#include "model/estimator/model_entry.h"
#include "model/fit.h"
#include "model/fit_checks.h"
#include "model/prepare/row_summary.h"
#include "model/update.h"

namespace mercer::model {

namespace {

constexpr const char* kOfMap = "a fit with a map of the caller's";

bool gives(const FitPlan& plan, std::string_view key) {
  return std::ranges::find(plan.keys, key) != plan.keys.end();
}
/// UNSUPPORTED if the plan gives one of these keys: "key of `of`".
void refuse_keys(const FitPlan& plan, std::initializer_list<const char*> keys, const char* of,
                 const char* expected) {
  for (const char* key : keys)
    require(!gives(plan, key), MERCER_UNSUPPORTED, "key \"%s\" of %s, expected %s", key, of,
            expected);
}

/// Refuses keys of a search, unless they ask for nothing.
void refuse_search(const FitPlan& plan, const char* of) {
  const SearchOptions& search = plan.search;
  const auto refuse_choice = [&](const char* key, bool chosen) {
    require(!chosen || !gives(plan, std::string("prepare.") + key), MERCER_UNSUPPORTED,
            "prepare.%s = auto of %s, expected none, log or rank: a search chooses", key, of);
  };
  refuse_choice("transform", search.choose_transform);
  refuse_choice("target_transform", search.choose_target_transform);
  const auto refuse = [&](const char* key, bool asks) {
    if (asks) refuse_keys(plan, {key}, of, "it left out: it is of a search");
  };
  refuse("ard", search.per_input != PerInput::off);
  refuse("assess", search.assess);
  refuse("effort", search.quick);
  refuse("spectrum", search.learns_spectrum);
  refuse("part_weights", search.learns_part_weights);
  refuse("most_features", true);
  refuse("budget", true);
  require(!gives(plan, "search") || !plan.searches || plan.walks, MERCER_UNSUPPORTED,
          "search = true of %s, expected false, the default there", of);
}

/// The kind of fit, in refusals, that has no search; null: it has one.
const char* unsearched(const FitPlan& plan, const FitData& data) {
  if (!has_targets(plan)) return "a model without targets";
  if (data.source != nullptr && (data.map != nullptr || !plan.searches)) return kOfSource;
  if (data.map != nullptr) return kOfMap;
  return plan.searches ? nullptr : "a fit with \"search\": false";
}

/// Refuses options that conflict with a search, which begins with ridge and chooses lambda itself.
void check_searchable(const FitPlan& plan) {
  constexpr const char* kPlain = "it left out, or \"search\": false";
  const EstimatorOptions& asked = plan.search.fit.estimate;
  const bool last = is_fitted_last(asked);
  if (plan.search.given_features)
    refuse_keys(plan, {"most_features"}, "a search with map.features", "one of the two");
  refuse_keys(plan, {"solver"}, "a search", kPlain);
  if (!last)
    refuse_keys(plan, {"delta", "tau", "iterations", "tolerance"},
                "a search of logistic regression", kPlain);
  const bool evidence =
      asked.entry->keeps_posterior && plan.search.fit.select.selection == Selection::evidence;
  require(!plan.search.learns_spectrum || evidence, MERCER_UNSUPPORTED,
          "spectrum = learnt, expected model = gp with select.by = evidence for it");
  require(!last || !asks_local(asked.parameters), MERCER_UNSUPPORTED,
          "local fits of a search, which would choose by the fit about one centre, expected "
          "\"search\": false");
  for (const std::string& key : plan.keys)
    require(
        !key.starts_with("select.") || key == "select.fraction" || (key == "select.by" && evidence),
        MERCER_UNSUPPORTED,
        "%s of a search, which goes by leave-one-out or, above 3,000 rows, by rows held "
        "out, expected fraction alone, or \"search\": false",
        key.c_str());
}

/// Refuses what a search of rows that are not in memory does not serve: a sample of them chooses, and
/// features of all rows, in blocks, are fitted.
void check_sampled(const FitPlan& plan) {
  constexpr const char* kUnsearched = "\"search\": false";
  const FitOptions& fit = plan.search.fit;
  const ModelEntry& entry = *fit.estimate.entry;
  require(!is_fitted_last(fit.estimate) || entry.least_squares || entry.is_searched != nullptr,
          MERCER_UNSUPPORTED,
          "model = \"%s\" of a search of %s, expected ridge, logistic, gp, or %s", entry.name,
          kOfSource, kUnsearched);
  require(
      !fit.select.ordered, MERCER_UNSUPPORTED,
      "ordered = true of a search of %s, expected false, or %s: its sample chooses from rows of "
      "all times",
      kOfSource, kUnsearched);
  const OutputStructure outputs = fit.outputs.structure;
  require(outputs == OutputStructure::independent || outputs == OutputStructure::given,
          MERCER_UNSUPPORTED, "outputs of a search of %s, expected independent or given",
          kOfSource);
}

/// Refuses what weights of another solver do not go with: there is nothing to choose, and they are of
/// the features of one output.
void check_given(const FitPlan& plan, const FitData& data) {
  const FitOptions& fit = plan.search.fit;
  const ModelEntry& entry = *fit.estimate.entry;
  require(entry.least_squares && !entry.keeps_posterior && fit.coding.task == Task::regression &&
              fit.outputs.structure == OutputStructure::independent,
          MERCER_UNSUPPORTED,
          "given weights of model = \"%s\" or of classes or coupled outputs, expected a regression "
          "of model ridge",
          entry.name);
  require(fit.select.selection == Selection::fixed, MERCER_INVALID_ARGUMENT,
          "given weights without \"lambda\", expected that of their solver");
  require(&data.map->scalar() == data.map.get() && !data.map->has_kernel_columns(),
          MERCER_UNSUPPORTED,
          "given weights of map exact or of one of several outputs, expected one of features");
}

void settle_selection(FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  const EstimatorOptions& estimate = fit.estimate;
  SelectionOptions& select = fit.select;
  plan.open_selection = select.selection == Selection::automatic;
  if (plan.open_selection)
    select.selection = estimate.problem().iterative == solver::Iterative::no
                           ? estimate.entry->selection
                       : estimate.entry->keeps_posterior ? Selection::evidence
                                                         : Selection::held_out;
  check_path(select);
  for (const std::string& key : plan.keys) {
    if (!key.starts_with("select.")) continue;
    const std::string own = key.substr(key.find('.') + 1);
    require(selection_reads(select.selection, own) || (plan.searches && own == "fraction"),
            MERCER_INVALID_ARGUMENT,
            "%s with select.by = %s, which does not read it, expected it left out", key.c_str(),
            word_of(select.selection));
  }
  if (plan.search.lambda < 0) return;
  select.fix(plan.search.lambda);
  require(fit.estimate.entry->selection == Selection::fixed || !gives(plan, "select"),
          MERCER_UNSUPPORTED, "key \"select\" of a fit with \"lambda\", expected one of the two");
}

/// What is open is left to a search, also in a plan that turns out to have none; a quick search takes
/// what costs least.
void settle_search(FitPlan& plan) {
  SearchOptions& search = plan.search;
  FitOptions& fit = search.fit;
  const auto choose = [](Transform& asked) {
    return asked == Transform::automatic && (asked = Transform::none, true);
  };
  search.choose_transform = choose(fit.prepare.transform);
  search.choose_target_transform = choose(fit.prepare.target_transform);
  fit.outputs.or_independent = fit.outputs.structure == OutputStructure::automatic;
  if (fit.outputs.or_independent) fit.outputs.structure = OutputStructure::covariance;
  if (fit.keep != Keep::nothing) search.estimator = Estimator::ridge;
  if (plan.names_model)
    search.estimator = fit.estimate.entry->least_squares ? Estimator::ridge : Estimator::logistic;
  if (search.quick) {
    search.choose_transform = search.choose_target_transform = false;
    if (search.per_input == PerInput::automatic) search.per_input = PerInput::off;
    if (!plan.names_model) search.estimator = Estimator::ridge;
  }
  search.held_out_fraction = fit.select.held_out_fraction;
  const Value* const features = plan.map.find("features");
  search.given_features = features != nullptr;
  // The map refuses another type.
  if (features != nullptr && std::holds_alternative<int64_t>(*features))
    search.features = std::get<int64_t>(*features);
}

/// Rows may be codes that only the caller's kernel understands.
void keep_inputs(FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  if (!gives(plan, "prepare.standardize") && !gives(plan, "prepare.scale"))
    fit.prepare.standardize = false;
  if (!gives(plan, "prepare.transform")) plan.search.choose_transform = false;
  if (!gives(plan, "prepare.extrapolation")) fit.prepare.extrapolation = Extrapolation::free;
  if (!gives(plan, "precision")) fit.estimate.precision = feature::Precision::f64;
}

/// A vector field needs one scale for all inputs and no transforms; a kernel of several outputs
/// excludes other couplings.
void follow_kernel(const kernel::Kernel& kernel, FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  if (kernel.traits().calls != kernel::Calls::none) keep_inputs(plan);
  plan.search.independent = {fit.prepare.scale, plan.search.choose_transform,
                             plan.search.choose_target_transform};
  const kernel::MatrixKernel* const matrix = kernel.matrix();
  if (matrix == nullptr) return;
  plan.search.choose_target_transform = false;
  if (fit.outputs.or_independent) fit.outputs.structure = OutputStructure::independent;
  if (matrix->is_of_directions()) {
    plan.search.choose_transform = false;
    if (!gives(plan, "prepare.scale") && fit.prepare.standardize) fit.prepare.scale = Scale::common;
  }
  check_outputs(kernel, fit);
}

}  // namespace

void count_classes(FitPlan& plan, const FitData& data) {
  TargetOptions& coding = plan.search.fit.coding;
  if (coding.targets != Targets::given) return;
  if (coding.task == Task::regression) {
    require(coding.classes == 0, MERCER_INVALID_ARGUMENT,
            "classes = %ld of task = \"regression\", expected 0", coding.classes);
    return;
  }
  const MatrixView<const double>& Y = data.rows.Y;
  const int64_t targets = data.source == nullptr ? Y.cols : data.targets;
  require(targets == 1, MERCER_DIMENSION_MISMATCH,
          "Y.d = %ld, expected 1 of class numbers because task = \"classification\"", targets);
  if (coding.classes > 0) return;
  require(data.source == nullptr, MERCER_INVALID_ARGUMENT, "classes = 0 of %s, expected K",
          kOfSource);
  double largest = 0;
  bool begins_at_0 = false;
  for (int64_t i = 0; i < Y.rows; ++i) {
    largest = std::max(largest, Y(i, 0));
    begins_at_0 = begins_at_0 || Y(i, 0) == 0;
  }
  coding.classes = class_count(largest, begins_at_0, Y);
}

int64_t class_count(double largest, bool begins_at_0, MatrixView<const double> Y) {
  require(begins_at_0, MERCER_INVALID_ARGUMENT,
          "Y has no row of class 0, expected classes numbered from 0, or \"classes\": K");
  require(largest >= 1 && largest < kMostClasses, MERCER_INVALID_ARGUMENT,
          "the largest class number in Y is %g, expected 1 to 999999", largest);
  const auto K = static_cast<int64_t>(largest) + 1;
  std::vector<char> has_rows(static_cast<size_t>(K), 0);
  for (int64_t i = 0; i < Y.rows; ++i)
    if (Y(i, 0) >= 0 && Y(i, 0) < static_cast<double>(K))
      has_rows[static_cast<size_t>(Y(i, 0))] = 1;
  const auto present = std::ranges::count(has_rows, 1);
  require(2 * present >= K, MERCER_INVALID_ARGUMENT,
          "the largest class number in Y is %ld, but rows are of %ld of the numbers up to it, "
          "expected classes numbered from 0 without gaps, or \"classes\": %ld",
          K - 1, present, K);
  return K;
}

void settle_spec(FitPlan& plan) {
  FitOptions& fit = plan.search.fit;
  const ModelEntry& entry = *fit.estimate.entry;
  if (entry.targets != nullptr) {
    fit.coding.targets = entry.targets(fit.estimate.parameters);
    require(fit.coding.task == Task::regression && fit.coding.classes == 0 && !fit.select.ordered,
            MERCER_UNSUPPORTED,
            "task, classes or ordered of a model without targets, expected them left out");
  }
  if (entry.unclipped && !gives(plan, "prepare.extrapolation"))
    fit.prepare.extrapolation = Extrapolation::free;
  settle_selection(plan);
  settle_search(plan);
  check_kept(fit);
}

void settle_rows(FitPlan& plan, const FitData& data) {
  count_classes(plan, data);
  SelectionOptions& select = plan.search.fit.select;
  const int64_t rows = data.rows.X.rows();
  if (!gives(plan, "select.folds") && select.folds == SelectionOptions().folds && rows >= 2)
    select.folds = std::min(select.folds, rows);
}

void settle_data(FitPlan& plan, const FitData& data) {
  FitOptions& fit = plan.search.fit;
  fit.estimate.given = data.given;
  if (data.given != nullptr) check_given(plan, data);
  const char* const of = unsearched(plan, data);
  plan.walks = !has_targets(plan) && plan.searches && data.source == nullptr &&
               data.map == nullptr && fit.select.selection != Selection::fixed;
  if (of != nullptr) {
    refuse_search(plan, of);
    plan.searches = false;
  }
  if (!has_targets(plan)) {
    if (fit.estimate.entry->selection == Selection::fixed)
      refuse_keys(plan, {"select"}, of, "it left out: nothing is chosen");
    require(data.rows.groups.empty(), MERCER_UNSUPPORTED,
            "groups of rows without targets, expected none");
  }
  if (data.source == nullptr) settle_rows(plan, data);
  const bool exchangeable = data.rows.groups.empty() && !fit.select.ordered;
  if (!exchangeable && plan.open_selection && fit.select.selection == Selection::leave_one_out)
    fit.select.selection = Selection::folds;
  if (plan.searches && data.source != nullptr) check_sampled(plan);
  if (data.map != nullptr) {
    follow_kernel(data.map->kernel(), plan);
    refuse_keys(plan, {"map", "lengthscale"}, kOfMap, "one of the two");
    require(data.source == nullptr || data.inputs == data.map->inputs(), MERCER_DIMENSION_MISMATCH,
            "data->source->d = %ld, expected the map's inputs, %ld", data.inputs,
            data.map->inputs());
  } else if (plan.searches) {
    check_searchable(plan);
  }
}

// The maps of a plan.

namespace {

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
  const auto kernel = partial->kernel();
  check_kept(plan.search.fit, partial->keeps_all_rows(), kernel->matrix() != nullptr);
  follow_kernel(*kernel, plan);
  plan.search.lengthscale = fixed_lengthscale(plan, *partial);
  if (!partial->keeps_all_rows()) return partial;
  require(!plan.search.given_features, MERCER_INVALID_ARGUMENT,
          "map.features of map exact, expected it left out: there is one for each row");
  require(plan.search.most_features == 0, MERCER_UNSUPPORTED,
          "most_features = %ld of map exact, expected it left out: there is one for each row",
          plan.search.most_features);
  auto before = maps_before_exact(plan, data, inputs);
  plan.search.takes_kernel = before != nullptr;
  return before != nullptr ? std::move(before) : std::move(partial);
}

}  // namespace

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

Proposal propose(const FitPlan& plan, MatrixView<const double> places, const Context& context) {
  constexpr int64_t kLeast = 256;  // features where none are given, and more only of more rows
  const int64_t n = places.rows, d = places.cols;
  Proposal made{nullptr, partial_map(plan.map, d, plan.search.fit.select.seed)};
  const PartialMap& partial = *made.partial;
  const double fixed = fixed_lengthscale(plan, partial);
  made.lengthscale = !partial.has_lengthscale() ? 1 : fixed > 0 ? fixed : partial.start();
  made.features = partial.features_of(
      plan.search.given_features ? plan.search.features
                                 : std::min(default_features(n, d, context), std::max(n, kLeast)),
      n);
  return made;
}

}  // namespace mercer::model
