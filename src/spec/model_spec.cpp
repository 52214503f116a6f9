// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Model specs:
// {"model":"ridge","map":{...},"lambda":x,"standardize":b,"center":b,"task":t,"precision":p} and
// the keys of words.h.
// Without "lambda" it is chosen by leave-one-out. A fitted model prints the lambda
// it has and "needs":"data".
#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "model/estimator/model_entry.h"
#include "model/map_from_rows.h"
#include "model/prepare/input_domain.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"
#include "spec/words.h"

namespace mercer::spec {
namespace {

Parameters canonical_map_of_model(const Parameters& given, const std::string& path) {
  return feature::canonical_map(given, path, feature::Data::refused);
}

Field model_name_field() {
  std::vector<const char*> names;
  for (const model::ModelEntry* entry : model::model_table()) names.push_back(entry->name);
  return name_field("model", std::move(names), "which model");
}

/// The keys of every model that stand behind its own.
std::vector<Field> common_fields() {
  return {
      {.key = "standardize",
       .type = FieldType::boolean,
       .fallback = true,
       .help = "centre and scale every input inside the model"},
      {.key = "center", .type = FieldType::boolean, .fallback = true, .help = "fit an intercept"},
      kTask.field(),
      kPrecision.field(),
  };
}

std::shared_ptr<const feature::FeatureMap> make_map(const Parameters& canonical,
                                                    const feature::MapData& data) {
  const StandardRounding rounding;
  return feature::make_map(canonical, data);
}

/// A field with a place of its own, in Selecting.
bool is_lambda(const Field& field) { return std::string_view(field.key) == "lambda"; }

/// The entry's own values but lambda, out of canonical ones.
Parameters own_parameters(const model::ModelEntry& entry, const Parameters& canonical) {
  Parameters own;
  for (const Field& field : entry.fields) {
    const Value* value = canonical.find(field.key);
    if (value != nullptr && !is_lambda(field)) own.set(field.key, *value);
  }
  return own;
}

}  // namespace

std::vector<Field> model_fields(const model::ModelEntry& entry) {
  std::vector<Field> fields = {model_name_field(),
                               {.key = "map",
                                .type = FieldType::map,
                                .fallback = {},
                                .help = "the feature map",
                                .canonical = canonical_map_of_model}};
  fields.insert(fields.end(), entry.fields.begin(), entry.fields.end());
  for (const std::vector<Field>& more : {common_fields(), preparation_fields()})
    fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

const model::ModelEntry& model_entry(const Parameters& given) {
  const Field name = model_name_field();
  Parameters named;
  if (const Value* value = given.find(name.key)) named.set(name.key, *value);
  return *model::find_model(check_fields(named, {&name, 1}, "").text(name.key));
}

ModelPlan model_plan_from_spec(std::string_view json) {
  const StandardRounding rounding;
  const Envelope envelope = open_envelope(parse_object(json), "");
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "needs = \"data\": a fitted model holds weights that a spec cannot; save it to a file");
  const model::ModelEntry& entry = model_entry(envelope.body);
  const Parameters canonical = check_fields(envelope.body, model_fields(entry), "");
  ModelPlan plan;
  plan.map = canonical.object("map");
  plan.fit.estimate = {&entry, own_parameters(entry, canonical), canonical.boolean("center"),
                       kPrecision.read(canonical)};
  const bool fixed = canonical.find("lambda") != nullptr;
  plan.fit.select.selection = fixed ? model::Selection::fixed : entry.selection;
  if (fixed) plan.fit.select.lambda = canonical.number("lambda");
  plan.fit.prepare.standardize = canonical.boolean("standardize");
  plan.fit.coding.task = kTask.read(canonical);
  read_preparation(canonical, plan.fit);
  return plan;
}

model::Model fit(const ModelPlan& plan, const Rows& X, MatrixView<const double> Y,
                 Context& context) {
  const bool learns = feature::learns_from_targets(plan.map);
  if (!feature::needs_rows(plan.map) && !learns) {
    return model::fit(make_map(plan.map, {}), plan.fit, X, Y, context);
  }
  const model::MapFromRows from_rows{
      plan.map.integer("inputs"), plan.map.integer("features"),
      [&](const Rows& rows, const MatrixView<const double>& targets, Context& running) {
        return make_map(
            plan.map, {.rows = &rows, .targets = learns ? &targets : nullptr, .context = &running});
      },
      model::domain_of(*kernel::make_kernel(plan.map.object("kernel")))};
  return model::fit(from_rows, plan.fit, X, Y, context);
}

Parameters model_parameters(const Parameters& map, const model::Fitting& fitted) {
  const auto& [entry, own_values, center, precision] = fitted.estimate;
  Parameters parameters;
  parameters.set("model", entry->name);
  parameters.set("map", std::make_shared<const Parameters>(map));
  for (const Field& field : entry->fields) {
    const Value* own = own_values.find(field.key);
    if (is_lambda(field)) {
      parameters.set(field.key, fitted.select.lambda);
    } else if (own != nullptr || std::holds_alternative<std::string>(field.fallback)) {
      parameters.set(field.key, own != nullptr ? *own : field.fallback);
    }
  }
  parameters.set("standardize", fitted.prepare.standardize);
  parameters.set("center", center);
  kTask.write(parameters, fitted.coding.task);
  kPrecision.write(parameters, precision);
  set_preparation(fitted, parameters);
  parameters.set("needs", "data");
  return parameters;
}

std::string print_model_kind(const model::Estimating& estimating) {
  Parameters kind;
  kind.set("model", estimating.entry->name);
  for (const auto& [key, value] : estimating.parameters.entries()) kind.set(key, value);
  return print_object(kind);
}

model::Estimating parse_model_kind(std::string_view json) {
  const Parameters given = parse_object(json);
  const model::ModelEntry& entry = model_entry(given);
  std::vector<Field> fields = {model_name_field()};
  std::ranges::copy_if(entry.fields, std::back_inserter(fields),
                       [](const Field& field) { return !is_lambda(field); });
  return {&entry, own_parameters(entry, check_fields(given, fields, ""))};
}

std::string to_spec(const model::Model& model) {
  return print_versioned(model_parameters(model.map->parameters(), model.fit));
}

}  // namespace mercer::spec
