// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Reads the spec of a fit.
#include "spec/fit_plan.h"

#include <algorithm>
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

void read_search(const Parameters& canonical, bool names_model, model::FitPlan& plan) {
  model::SearchOptions& search = plan.search;
  search.per_input = static_cast<model::PerInput>(
      std::ranges::find(kArdWords, canonical.text("ard")) - std::begin(kArdWords));
  if (names_model)
    search.estimator = search.fit.estimate.entry->least_squares ? model::Estimator::ridge
                                                                : model::Estimator::logistic;
  search.quick = canonical.text("effort") == kEffortWords[1];
  if (search.quick) {
    search.choose_transform = search.choose_target_transform = false;
    if (search.per_input == model::PerInput::automatic) search.per_input = model::PerInput::off;
    if (!names_model) search.estimator = model::Estimator::ridge;
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
}

/// "select" and "select.by", for each key and those of its object.
std::vector<std::string> keys_of(const Parameters& given) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : given.entries()) {
    keys.push_back(key);
    if (const auto* const object = std::get_if<std::shared_ptr<const Parameters>>(&value))
      for (const auto& [inner, own] : (*object)->entries()) keys.push_back(key + "." + inner);
  }
  return keys;
}

}  // namespace

model::FitPlan fit_plan(std::string_view json) {
  const StandardRounding rounding;
  const Envelope envelope = open_envelope(parse_object(json), "");
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "needs = \"data\": a fitted model holds weights that a spec cannot; save it to a file");
  const Parameters given =
      with_object(with_object(envelope.body, "map", "map"), "outputs", "structure");
  const model::ModelEntry& entry = model_entry(given);
  const Parameters canonical = check_fields(given, model_fields(entry), "");
  const auto part = [&](const char* key) {
    return given.find(key) == nullptr ? Parameters() : given.object(key);
  };
  const Parameters select = part("select");
  model::FitPlan plan{
      .map = canonical.object("map"),
      .searches = canonical.boolean("search"),
      .open_selection = select.find("by") == nullptr || select.text("by") == kSelectWays[0],
      .open_scale = part("prepare").find("scale") == nullptr,
      .keys = keys_of(given)};
  model::Fitting& fit = plan.search.fit;
  fit.estimate = {&entry, own_parameters(entry, canonical), canonical.boolean("center"),
                  kPrecision.read(canonical)};
  read_select(select, canonical.object("select"), fit.estimate, plan.searches, fit.select);
  if (canonical.find("lambda") != nullptr) {
    fit.select.selection = model::Selection::fixed;
    plan.search.lambda = fit.select.lambda = canonical.number("lambda");
    require(entry.targets != nullptr || given.find("select") == nullptr, MERCER_UNSUPPORTED,
            "key \"select\" of a fit with \"lambda\", expected one of the two");
  }
  read_prepare(canonical.object("prepare"), plan.search);
  fit.coding = {kTask.read(canonical), canonical.integer("classes")};
  fit.select.seed = canonical.seed("seed");
  fit.select.ordered = canonical.boolean("ordered");
  if (entry.targets != nullptr) {
    fit.coding.targets = entry.targets(fit.estimate.parameters);
    require(fit.coding.task == model::Task::regression && fit.coding.classes == 0 &&
                !fit.select.ordered,
            MERCER_UNSUPPORTED,
            "task, classes or ordered of a model without targets, expected them left out");
  }
  fit.outputs = read_outputs(canonical.object("outputs"));
  if (given.find("lengthscale") != nullptr)
    plan.search.lengthscale = canonical.number("lengthscale");
  read_search(canonical, canonical.text("model") != kAutomaticModel, plan);
  return plan;
}

}  // namespace mercer::spec
