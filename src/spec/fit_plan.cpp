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
#include "model/estimator/model_entry.h"
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

}  // namespace mercer::spec
