// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reads the spec of a fit.
#include "spec/fit_plan.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "kernel/kernel.h"
#include "model/estimator/class_weights.h"
#include "model/estimator/local_choice.h"
#include "model/estimator/model_entry.h"
#include "model/fit_checks.h"
#include "model/map_from_rows.h"
#include "model/prepare/input_domain.h"
#include "model/prepare/row_summary.h"
#include "model/rows/central_lengthscale.h"
#include "model/rows/row_sets.h"
#include "spec/json.h"
#include "spec/specs.h"
#include "spec/words.h"

namespace mercer::spec {
namespace {

constexpr int64_t kMostClasses = 1000000;

/// KEY: NAME stands for KEY: {INNER: NAME}.
Parameters with_object(Parameters body, const char* key, const char* inner) {
  const Value* const given = body.find(key);
  if (given == nullptr || !std::holds_alternative<std::string>(*given)) return body;
  Parameters named;
  named.set(inner, *given);
  body.set(key, std::make_shared<const Parameters>(std::move(named)));
  return body;
}

/// Refuses a key of "select" that the given "by" does not read.
void refuse_unread(const Parameters& given, model::Selection by, bool searches) {
  for (const auto& [key, value] : given.entries())
    require(selection_reads(by, key) || (searches && key == "fraction"), MERCER_INVALID_ARGUMENT,
            "select.%s with select.by = %s, which does not read it, expected it left out",
            key.c_str(), kSelectWays[static_cast<size_t>(by)]);
}

/// The selection of a spec that names none.
model::Selection usual_selection(const model::Estimating& estimate) {
  return estimate.problem().iterative != solver::Iterative::no ? model::Selection::held_out
                                                               : estimate.entry->selection;
}

void read_select(const Parameters& given, const Parameters& canonical,
                 const model::Estimating& estimate, bool searches, model::Selecting& fit) {
  const std::string& word = canonical.text("by");
  const auto way = std::ranges::find(kSelectWays, word) - std::begin(kSelectWays);
  fit.selection = way == 0 ? usual_selection(estimate) : static_cast<model::Selection>(way);
  fit.folds = canonical.integer("folds");
  fit.held_out_fraction = canonical.number("fraction");
  fit.lambda_largest = canonical.number("largest");
  fit.lambda_smallest = canonical.number("smallest");
  fit.lambda_count = canonical.integer("count");
  require(fit.lambda_smallest <= fit.lambda_largest, MERCER_INVALID_ARGUMENT,
          "select.smallest = %g, expected at most select.largest = %g", fit.lambda_smallest,
          fit.lambda_largest);
  refuse_unread(given, fit.selection, searches);
}

void read_prepare(Parameters prepare, model::SearchOptions& search) {
  search.choose_transform = prepare.text(kTransform.key) == kAutomaticTransform;
  if (search.choose_transform) kTransform.write(prepare, model::Transform::none);
  search.choose_target_transform = prepare.text(kTargetTransform.key) == kAutomaticTransform;
  if (search.choose_target_transform) kTargetTransform.write(prepare, model::Transform::none);
  search.fit.prepare.standardize = prepare.boolean("standardize");
  read_preparation(prepare, search.fit);
}

void read_search(const Parameters& canonical, const FitPlan& plan, model::SearchOptions& search) {
  if (plan.asks("lengthscale")) search.lengthscale = canonical.number("lengthscale");
  search.per_input = static_cast<model::PerInput>(
      std::ranges::find(kArdWords, canonical.text("ard")) - std::begin(kArdWords));
  search.quick = canonical.text("effort") == kEffortWords[1];
  if (search.quick) {
    search.choose_transform = search.choose_target_transform = false;
    if (search.per_input == model::PerInput::automatic) search.per_input = model::PerInput::off;
    if (!plan.names_model) search.estimator = model::Estimator::ridge;
  }
  search.learns_spectrum = canonical.text("spectrum") == kSpectrumWords[1];
  search.assess = canonical.boolean("assess");
  search.held_out_fraction = search.fit.select.held_out_fraction;
  const Value* const features = plan.map.find("features");
  search.given_features = features != nullptr;
  search.most_features = canonical.integer("most_features");
  // The map refuses another type.
  if (features != nullptr && std::holds_alternative<int64_t>(*features))
    search.features = std::get<int64_t>(*features);
  if (plan.names_model)
    search.estimator = search.fit.estimate.entry->least_squares ? model::Estimator::ridge
                                                                : model::Estimator::logistic;
}

void refuse_automatic_transform(const FitPlan& plan, const char* of) {
  if (!plan.asks("prepare")) return;
  for (const char* key : {kTransform.key, kTargetTransform.key}) {
    const Value* const word = plan.given.object("prepare").find(key);
    require(word == nullptr || *word != Value(std::string(kAutomaticTransform)), MERCER_UNSUPPORTED,
            "prepare.%s = auto of %s, expected none, log or rank: a search chooses", key, of);
  }
}

/// A fit without targets chooses nothing: there is no search.
void follow_model(FitPlan& plan) {
  model::Fitting& fit = plan.search.fit;
  if (fit.estimate.entry->targets == nullptr) return;
  constexpr const char* kWhat = "a model without targets";
  fit.coding.targets = fit.estimate.entry->targets(fit.estimate.parameters);
  refuse_search_keys(plan, kWhat);
  plan.searches = false;
  refuse_keys(plan, {"select"}, kWhat, "it left out: nothing is chosen");
  require(
      fit.coding.task == model::Task::regression && fit.coding.classes == 0 && !fit.select.ordered,
      MERCER_UNSUPPORTED, "task, classes or ordered of %s, expected them left out", kWhat);
}

}  // namespace

void refuse_keys(const FitPlan& plan, std::initializer_list<const char*> keys, const char* of,
                 const char* expected) {
  for (const char* key : keys)
    require(!plan.asks(key), MERCER_UNSUPPORTED, "key \"%s\" of %s, expected %s", key, of,
            expected);
}

void refuse_search_keys(const FitPlan& plan, const char* of) {
  refuse_automatic_transform(plan, of);
  // What asks for nothing may stand.
  const auto asked = [&](const char* key, const Value& nothing) {
    if (plan.asks(key) && *plan.given.find(key) != nothing)
      refuse_keys(plan, {key}, of, "it left out: it is of a search");
  };
  asked("ard", Value(std::string(kArdWords[1])));
  asked("assess", Value(false));
  asked("effort", Value(std::string(kEffortWords[0])));
  asked("spectrum", Value(std::string(kSpectrumWords[0])));
  refuse_keys(plan, {"most_features"}, of, "it left out: it is of a search");
  require(!plan.asks("search") || !plan.searches, MERCER_UNSUPPORTED,
          "search = true of %s, expected false, the default there", of);
}

FitPlan fit_plan(std::string_view json) {
  const StandardRounding rounding;
  const Envelope envelope = open_envelope(parse_object(json), "");
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "needs = \"data\": a fitted model holds weights that a spec cannot; save it to a file");
  FitPlan plan;
  plan.given = with_object(with_object(envelope.body, "map", "map"), "outputs", "structure");
  const model::ModelEntry& entry = model_entry(plan.given);
  const Parameters canonical = check_fields(plan.given, model_fields(entry), "");
  plan.names_model = canonical.text("model") != kAutomaticModel;
  plan.map = canonical.object("map");
  plan.searches = canonical.boolean("search");
  model::Fitting& fit = plan.search.fit;
  fit.estimate = {&entry, own_parameters(entry, canonical), canonical.boolean("center"),
                  kPrecision.read(canonical)};
  read_select(plan.asks("select") ? plan.given.object("select") : Parameters(),
              canonical.object("select"), fit.estimate, plan.searches, fit.select);
  if (canonical.find("lambda") != nullptr) {
    fit.select.selection = model::Selection::fixed;
    plan.search.lambda = fit.select.lambda = canonical.number("lambda");
    if (entry.targets == nullptr)
      refuse_keys(plan, {"select"}, "a fit with \"lambda\"", "one of the two");
  }
  read_prepare(canonical.object("prepare"), plan.search);
  fit.coding = {kTask.read(canonical), canonical.integer("classes")};
  fit.select.seed = canonical.seed("seed");
  fit.select.ordered = canonical.boolean("ordered");
  fit.outputs = read_outputs(canonical.object("outputs"));
  read_search(canonical, plan, plan.search);
  follow_model(plan);
  return plan;
}

void set_classes(FitPlan& plan, int64_t targets, const MatrixView<const double>* Y) {
  model::Coding& fit = plan.search.fit.coding;
  if (fit.targets != model::Targets::given) return;
  if (fit.task == model::Task::regression) {
    require(fit.classes == 0, MERCER_INVALID_ARGUMENT,
            "classes = %ld of task = \"regression\", expected 0", fit.classes);
    return;
  }
  require(targets == 1, MERCER_DIMENSION_MISMATCH,
          "Y has %ld columns, expected 1 of class numbers because task = \"classification\"",
          targets);
  if (fit.classes > 0) return;
  require(Y != nullptr, MERCER_INVALID_ARGUMENT,
          "classes = 0 of rows that are not in memory, expected K");
  double largest = 0;
  bool begins_at_0 = false;
  for (int64_t i = 0; i < Y->rows; ++i) {
    largest = std::max(largest, (*Y)(i, 0));
    begins_at_0 = begins_at_0 || (*Y)(i, 0) == 0;
  }
  require(begins_at_0, MERCER_INVALID_ARGUMENT,
          "Y has no row of class 0, expected classes numbered from 0, or \"classes\": K");
  require(largest >= 1 && largest < kMostClasses, MERCER_INVALID_ARGUMENT,
          "the largest class number in Y is %g, expected 1 to 999999", largest);
  fit.classes = static_cast<int64_t>(largest) + 1;
}

// Fits a model by its spec. A search chooses what the spec leaves open; without a search the map is
// the spec's or the caller's, and only lambda is chosen.

namespace {

constexpr const char* kLogisticLoss = "logistic";

/// Refuses options that conflict with a search, which begins with ridge and chooses lambda itself.
void check_searchable(const FitPlan& plan) {
  constexpr const char* kPlain = "it left out, or \"search\": false";
  refuse_keys(plan, {"solver"}, "a search", kPlain);
  if (!plan.search.final_estimate)
    refuse_keys(plan, {"delta", "tau", "iterations", "tolerance"},
                "a search of logistic regression", kPlain);
  const auto& last = plan.search.final_estimate;
  const bool evidence = last && last->entry->keeps_posterior &&
                        plan.search.fit.select.selection == model::Selection::evidence;
  require(!plan.search.learns_spectrum || evidence, MERCER_UNSUPPORTED,
          "spectrum = learnt, expected model = gp with select.by = evidence for it");
  require(!last || !model::asks_local(last->parameters), MERCER_UNSUPPORTED,
          "local fits of a search, which would choose by the fit about one centre, expected "
          "\"search\": false");
  if (!plan.asks("select")) return;
  for (const auto& [key, value] : plan.given.object("select").entries())
    require(key == "fraction" || (key == "by" && evidence), MERCER_UNSUPPORTED,
            "select.%s of a search, which goes by leave-one-out or, above 3,000 rows, by rows held "
            "out: expected fraction alone, or \"search\": false",
            key.c_str());
}

/// A model other than ridge and logistic regression is fitted at the end, with its own lambda.
void end_with_estimate(FitPlan& plan) {
  const model::Estimating& asked = plan.search.fit.estimate;
  const Value* const loss = asked.parameters.find("loss");
  const bool posterior = asked.entry->keeps_posterior;
  if ((asked.entry->least_squares && !posterior) ||
      (loss != nullptr && *loss == Value(std::string(kLogisticLoss))))
    return;
  // Variances are those of untransformed targets.
  if (posterior) plan.search.choose_target_transform = false;
  plan.search.final_estimate = asked;
  plan.search.final_lambda = std::exchange(plan.search.lambda, -1);
  plan.search.estimator = model::Estimator::ridge;
}

/// Which is logistic regression's part of it, too.
void begin_with_ridge(model::Estimating& estimate) {
  Parameters own = model::default_parameters(model::ridge_model());
  if (estimate.parameters.find(model::kClassWeight.key) != nullptr)
    model::kClassWeight.write(own, model::kClassWeight.read(estimate.parameters));
  estimate.entry = &model::ridge_model();
  estimate.parameters = std::move(own);
}

/// A single lengthscale in the spec is kept; lengthscales per input, and of parts, are multiplied
/// by a factor, which is searched.
double fixed_lengthscale(const FitPlan& plan, const model::PartialMap& maker) {
  require(plan.search.lengthscale == 0 || maker.has_lengthscale(), MERCER_UNSUPPORTED,
          "lengthscale = %g, expected it left out for a kernel without a lengthscale",
          plan.search.lengthscale);
  const double asked = plan.search.lengthscale;
  if (plan.map.find("kernel") == nullptr) return asked;
  const Parameters* kernel = &plan.map.object("kernel");
  if (kernel->find("scalar") != nullptr) kernel = &kernel->object("scalar");
  const bool given = kernel->find("lengthscale") != nullptr && maker.start() == 0;
  const double own = given ? maker.lengthscale().value_or(0) : 0;
  require(asked == 0 || own == 0 || asked == own, MERCER_INVALID_ARGUMENT,
          "lengthscale = %g beside map.kernel.lengthscale = %g, expected one of the two", asked,
          own);
  return asked > 0 ? asked : own;
}

/// A vector field needs one scale for all inputs and no transforms; a kernel of several outputs
/// excludes other couplings.
void follow_kernel(const kernel::Kernel& kernel, FitPlan& plan) {
  plan.search.independent = {plan.search.fit.prepare.scale, plan.search.choose_transform,
                             plan.search.choose_target_transform};
  const kernel::MatrixKernel* const matrix = kernel.matrix();
  if (matrix == nullptr) return;
  model::Fitting& fit = plan.search.fit;
  plan.search.choose_target_transform = false;
  if (fit.outputs.or_independent) fit.outputs.structure = model::OutputStructure::independent;
  const bool asked = plan.asks("prepare") && plan.given.object("prepare").find("scale") != nullptr;
  if (matrix->field_parts() != nullptr) {
    plan.search.choose_transform = false;
    if (!asked && fit.prepare.standardize) fit.prepare.scale = model::Scale::common;
  }
  model::check_outputs(kernel, fit);
}

/// The candidate maps for this many prepared inputs.
std::unique_ptr<model::PartialMap> maker_for(FitPlan& plan, int64_t inputs) {
  auto maker = model::partial_map(plan.map, inputs, plan.search.fit.select.seed);
  follow_kernel(*maker->kernel(), plan);
  plan.search.lengthscale = fixed_lengthscale(plan, *maker);
  require(!maker->keeps_all_rows() || !plan.search.given_features, MERCER_INVALID_ARGUMENT,
          "map.features of map exact, expected it left out: there is one for each row");
  return maker;
}

bool has_targets(const FitPlan& plan) {
  return plan.search.fit.coding.targets == model::Targets::given;
}
/// Whether the spec leaves the lengthscale to the median heuristic. With targets the lengthscales
/// of parts are what they are.
bool leaves_lengthscale(const FitPlan& plan, const model::PartialMap& maker) {
  return plan.search.lengthscale == 0 && maker.has_lengthscale() && maker.start() == 0 &&
         (maker.lengthscale() || !has_targets(plan));
}
double median_distance(const Rows& prepared, const std::vector<int64_t>& rows, uint64_t seed,
                       Context& context) {
  return prepared.visit(
      [&](const auto& X) { return model::central_lengthscale({}, X, rows, seed, context); });
}

/// The lengthscale of a map without a search.
double plain_lengthscale(const FitPlan& plan, const model::PartialMap& maker) {
  if (plan.search.lengthscale > 0) return plan.search.lengthscale;
  return maker.start() > 0 ? 1 : maker.lengthscale().value_or(1);
}

model::Model fit_plainly(FitPlan plan, const Rows& X, MatrixView<const double> Y,
                         std::span<const double> weights, std::span<const double> groups,
                         Context& context) {
  model::Preparing& prepare = plan.search.fit.prepare;
  if (X.sparse()) prepare.buckets = model::hash_buckets(plan.map, X.cols());
  const int64_t inputs = model::prepared_inputs(prepare, {}, X, weights);
  const auto maker = maker_for(plan, inputs);
  const bool open = leaves_lengthscale(plan, *maker);
  double lengthscale = plain_lengthscale(plan, *maker);
  const int64_t wanted = plan.search.features;
  const int64_t features = maker->keeps_all_rows() ? maker->features_of(wanted, X.rows()) : wanted;
  if (!maker->needs_rows() && !open)
    return model::fit(maker->make(lengthscale, features), plan.search.fit, X, Y, context, weights,
                      groups);
  const model::MapFromRows from_rows{
      inputs,
      features,
      [&](const Rows& rows, const MatrixView<const double>& targets, Context& running) {
        // Rows of weight 0 are among these only where a map keeps all rows.
        const std::span<const double> own =
            maker->keeps_all_rows() ? weights : std::span<const double>();
        if (open)
          lengthscale = median_distance(rows, model::rows_that_count(own, rows.rows()),
                                        plan.search.fit.select.seed, running);
        if (!maker->needs_rows()) return maker->make(lengthscale, features);
        return maker->make_from(lengthscale, features, rows, targets, running);
      },
      maker->domain(),
      maker->reads_all_rows(),
      maker->keeps_all_rows()};
  return model::fit(from_rows, plan.search.fit, X, Y, context, weights, groups);
}

}  // namespace

model::Model fit(FitPlan plan, const GivenMap& map, const Rows& X, MatrixView<const double> Y,
                 std::span<const double> weights, Context& context,
                 std::span<const double> groups) {
  settle_selection(plan, groups.empty() && !plan.search.fit.select.ordered);
  require(groups.empty() || plan.search.fit.coding.targets == model::Targets::given,
          MERCER_UNSUPPORTED, "groups of rows without targets, expected none: no row is held out");
  if (map != nullptr) {
    follow_kernel(map->kernel(), plan);
    refuse_keys(plan, {"map", "lengthscale"}, "a fit with a map of the caller's", "one of the two");
    refuse_search_keys(plan, "a fit with a map of the caller's");
    return model::fit(map, plan.search.fit, X, Y, context, weights, groups);
  }
  if (!plan.searches) {
    refuse_search_keys(plan, "a fit with \"search\": false");
    return fit_plainly(std::move(plan), X, Y, weights, groups, context);
  }
  if (plan.search.given_features)
    refuse_keys(plan, {"most_features"}, "a search with map.features", "one of the two");
  end_with_estimate(plan);
  check_searchable(plan);
  begin_with_ridge(plan.search.fit.estimate);
  model::Preparing& prepare = plan.search.fit.prepare;
  if (X.sparse()) prepare.buckets = model::hash_buckets(plan.map, X.cols());
  plan.search.few_missing = model::leave_out_rare_flags(prepare, plan.search.flagged, X, weights);
  const int64_t inputs = model::prepared_inputs(prepare, plan.search.flagged, X, weights);
  const auto maker = maker_for(plan, inputs);
  maker->take_unit_diagonal();
  maker->take_ratio();
  return model::search(*maker, plan.search, X, Y, context, weights, groups);
}

void settle_selection(FitPlan& plan, bool exchangeable) {
  model::Selecting& select = plan.search.fit.select;
  const bool open = !plan.asks("select") || plan.given.object("select").find("by") == nullptr ||
                    plan.given.object("select").text("by") == kSelectWays[0];
  if (!exchangeable && open && select.selection == model::Selection::loo)
    select.selection = model::Selection::kfold;
}

GivenMap map_of_stream(FitPlan& plan, const GivenMap& map, int64_t inputs) {
  constexpr const char* kWhat = "rows that are not in memory";
  settle_selection(plan, !plan.search.fit.select.ordered);
  refuse_search_keys(plan, kWhat);
  if (map != nullptr) {
    follow_kernel(map->kernel(), plan);
    refuse_keys(plan, {"map", "lengthscale"}, "a fit with a map of the caller's", "one of the two");
    require(inputs == map->inputs(), MERCER_DIMENSION_MISMATCH,
            "data->source->d = %ld, expected the map's inputs, %ld", inputs, map->inputs());
    return map;
  }
  const auto maker = maker_for(plan, inputs);
  require(!maker->requires_rows(), MERCER_UNSUPPORTED,
          "map of %s is made from rows, expected another, or data->map made of a sample before",
          kWhat);
  require(has_targets(plan) || !leaves_lengthscale(plan, *maker), MERCER_INVALID_ARGUMENT,
          "key \"lengthscale\" is missing, expected a number: of %s there is no median distance",
          kWhat);
  return maker->make(plain_lengthscale(plan, *maker), plan.search.features);
}

model::HermiteOptions hermite_options(const FitPlan& plan) {
  for (const auto& [key, value] : plan.given.entries())
    require(key == "model" || key == "lambda" || key == "center", MERCER_UNSUPPORTED,
            "key \"%s\" of sets of observations, expected model, lambda and center alone: X is "
            "what the map is given",
            key.c_str());
  const auto& [estimate, prepare, coding, outputs, select, extrapolation] = plan.search.fit;
  require(estimate.entry->least_squares && !estimate.entry->keeps_posterior, MERCER_UNSUPPORTED,
          "model = \"%s\" of sets of observations, expected ridge", estimate.entry->name);
  require(select.selection == model::Selection::fixed, MERCER_INVALID_ARGUMENT,
          "key \"lambda\" is missing, expected a number >= 0: of sets of observations it is not "
          "chosen");
  return {select.lambda, estimate.center};
}

}  // namespace mercer::spec
