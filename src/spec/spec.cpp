// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of kernels and maps.
#include "spec/spec.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "base/float_environment.h"
#include "base/options.h"
#include "feature/map_entry.h"
#include "model/estimator/model_entry.h"
#include "spec/json.h"

namespace mercer::spec {

// Kernel specs: {"kernel": NAME, parameters of the kernel's entry}, or NAME alone.

std::unique_ptr<kernel::Kernel> kernel_from_spec(std::string_view json) {
  return kernel::make_kernel(parse_kernel(json));
}

std::string to_spec(const kernel::Kernel& kernel) { return print_versioned(kernel.parameters()); }

// Map specs: {"map": NAME, "kernel": {...}, "inputs": d, "features": D, "seed": s, parameters of
// the map's entry}; and the top level of every spec.

std::unique_ptr<feature::FeatureMap> map_from_spec(std::string_view json) {
  return feature::make_map(feature::canonical_map(parse_object(json), "", feature::Data::refused),
                           {});
}

std::unique_ptr<feature::FeatureMap> map_from_spec_and_numbers(
    std::string_view json, std::span<const NumberArray> numbers) {
  return feature::make_map(map_parameters_of_file(json), {.numbers = numbers});
}

std::unique_ptr<feature::FeatureMap> map_fitted_to_spec(std::string_view json,
                                                        const MapInputs& inputs, Context& context) {
  Parameters given = parse_object(json);
  if (inputs.kernel != nullptr) {
    require(given.find("kernel") == nullptr, MERCER_INVALID_ARGUMENT,
            "key \"kernel\" beside a kernel of the caller's, expected one of the two");
    given.set("kernel", std::make_shared<const Parameters>(inputs.kernel->parameters()));
  }
  if (inputs.frequencies != nullptr)
    return feature::make_supplied(std::move(given), inputs.kernel.get(), *inputs.frequencies);
  const Parameters canonical = feature::canonical_map(given, "", feature::Data::refused);
  const feature::MapData data{.rows = inputs.rows, .targets = inputs.targets, .context = &context};
  return inputs.kernel == nullptr ? feature::make_map(canonical, data)
                                  : feature::make_map_of(inputs.kernel, canonical, data);
}

Parameters map_parameters_of_file(std::string_view json) {
  return feature::canonical_map(parse_object(json, kMostFileSpecBytes), "", feature::Data::allowed);
}

Parameters versioned(const Parameters& canonical) {
  Parameters top{{"mercer", kVocabularyVersion}};
  for (const auto& [key, value] : canonical.entries()) top.set(key, value);
  return top;
}

std::string print_versioned(const Parameters& canonical) {
  return print_object(versioned(canonical));
}

std::string to_spec(const feature::FeatureMap& map) { return print_versioned(map.parameters()); }

// Specs of fits, and of fitted models, which have "needs":"data".

namespace {

/// The value of "model" that leaves the choice to the search.
constexpr const char* kAutomaticModel = "auto";
constexpr const char* kMap = "map";
constexpr const char* kSelect = "select";

std::vector<const char*> model_names() {
  std::vector<const char*> names;
  for (const model::ModelEntry* entry : model::model_table()) names.push_back(entry->name);
  return names;
}

Field model_name_field() {
  std::vector<const char*> names = model_names();
  names.insert(names.begin(), kAutomaticModel);
  return choice_field("model", kAutomaticModel, std::move(names),
                      "which model; auto: ridge, or for classes the better of ridge and logistic "
                      "regression if a search can afford both");
}

/// Of a fitted model, which has a name.
Field fitted_name_field() { return name_field("model", model_names(), "which model"); }

const model::ModelEntry& entry_of(const Parameters& given, const Field& field) {
  Parameters named;
  if (const Value* value = given.find(field.key)) named.set(field.key, *value);
  const std::string found = check_fields(named, {&field, 1}, "").text(field.key);
  return found == kAutomaticModel ? model::ridge_model() : *model::find_model(found);
}

/// Completed once the number of inputs is known from the rows.
Parameters map_as_given(const Parameters& given, const std::string&) { return given; }

Field map_field() {
  return {.key = kMap,
          .type = FieldType::map,
          .fallback = std::make_shared<const Parameters>(),
          .help =
              "the feature map, or its name alone; missing keys are filled in, \"inputs\" from "
              "the rows",
          .canonical = map_as_given};
}

void append(std::vector<Field>& fields, std::vector<Field> more) {
  std::ranges::move(more, std::back_inserter(fields));
}

/// Whether the field is a member of SelectionOptions.
bool is_lambda(const Field& field) { return std::string_view(field.key) == "lambda"; }

/// The entry's own parameters except lambda, from canonical ones.
Parameters own_parameters(const model::ModelEntry& entry, const Parameters& canonical) {
  Parameters own;
  for (const Field& field : entry.fields) {
    const Value* value = canonical.find(field.key);
    if (value != nullptr && !is_lambda(field)) own.set(field.key, *value);
  }
  return own;
}

/// KEY: NAME stands for KEY: {INNER: NAME}.
Parameters with_object(Parameters body, const char* key, const char* inner) {
  const Value* const given = body.find(key);
  if (given == nullptr || !std::holds_alternative<std::string>(*given)) return body;
  Parameters named;
  named.set(inner, *given);
  body.set(key, std::make_shared<const Parameters>(std::move(named)));
  return body;
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

std::vector<Field> fit_fields(const model::ModelEntry* entry) {
  std::vector<Field> fields = {model_name_field(), map_field()};
  if (entry != nullptr) append(fields, entry->fields);
  append(fields, fields_of(model::choice_options()));
  append(fields, fields_of(model::fit_options()));
  return fields;
}

model::FitPlan fit_plan(std::string_view json) {
  const StandardRounding rounding;
  const Envelope envelope = open_envelope(parse_object(json), "");
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "needs = \"data\": a fitted model holds weights that a spec cannot; save it to a file");
  const Parameters given =
      with_object(with_object(envelope.body, "map", "map"), "outputs", "structure");
  const model::ModelEntry& entry = entry_of(given, model_name_field());
  const Parameters canonical = check_fields(given, fit_fields(&entry), "");
  model::FitPlan plan{.map = canonical.object("map"),
                      .names_model = canonical.text("model") != kAutomaticModel,
                      .keys = keys_of(given)};
  model::FitOptions& fit = plan.search.fit;
  fit.estimate = {&entry, own_parameters(entry, canonical)};
  read_options(model::fit_options(), canonical, fit);
  read_options(model::choice_options(), canonical, plan);
  if (canonical.find("lambda") != nullptr) plan.search.lambda = canonical.number("lambda");
  model::settle_spec(plan);
  return plan;
}

model::UpdateOptions update_options(std::string_view json) {
  const Parameters given = open_envelope(parse_object(json), "").body;
  model::UpdateOptions options;
  read_options(model::update_options(), check_fields(given, fields_of(model::update_options()), ""),
               options);
  return options;
}

Parameters fitted_parameters(const Parameters& map, const model::FitOptions& fitted) {
  const model::ModelEntry& entry = *fitted.estimate.entry;
  Parameters parameters;
  parameters.set("model", entry.name);
  parameters.set(kMap, std::make_shared<const Parameters>(map));
  for (const Field& field : entry.fields) {
    const Value* own = fitted.estimate.parameters.find(field.key);
    if (is_lambda(field)) {
      parameters.set(field.key, fitted.select.lambda);
    } else if (own != nullptr || std::holds_alternative<std::string>(field.fallback) ||
               std::holds_alternative<bool>(field.fallback)) {
      parameters.set(field.key, own != nullptr ? *own : field.fallback);
    }
  }
  parameters.set("search", false);  // nothing is left open
  Parameters options;
  write_options(model::fit_options(), fitted, options);
  const bool joined = fitted.outputs.structure != model::OutputStructure::independent;
  for (const auto& [key, value] : options.entries())
    if (joined || key != "outputs") parameters.set(key, value);
  parameters.set("needs", "data");
  return parameters;
}

std::string to_spec(const model::Model& model) {
  return print_versioned(fitted_parameters(model.map->parameters(), model.fit));
}

std::string print_fitted(const Parameters& map, const model::FitOptions& fitted) {
  Parameters parameters = fitted_parameters(map, fitted);
  if (fitted.select.selection != model::Selection::fixed) {
    Parameters select;
    write_options(model::selection_options(), fitted.select, select);
    parameters.set(kSelect, std::make_shared<const Parameters>(std::move(select)));
  }
  return print_versioned(parameters);
}

FittedSpec parse_fitted(std::string_view json) {
  const Parameters given = open_envelope(parse_object(json, kMostFileSpecBytes), "").body;
  const model::ModelEntry& entry = entry_of(given, fitted_name_field());
  std::vector<Field> fields = {fitted_name_field(), map_field()};
  append(fields, entry.fields);
  append(fields, fields_of(model::fit_options()));
  const std::vector<Field> choices = fields_of(model::choice_options());
  std::ranges::copy_if(choices, std::back_inserter(fields), [](const Field& field) {
    return std::string_view(field.key) == "search" || std::string_view(field.key) == kSelect;
  });
  const Parameters canonical = check_fields(given, fields, "");
  model::FitOptions fit{.estimate = {&entry, own_parameters(entry, canonical)}};
  read_options(model::fit_options(), canonical, fit);
  read_options(model::selection_options(), canonical.object(kSelect), fit.select);
  if (given.find(kSelect) == nullptr) fit.select.selection = model::Selection::fixed;
  fit.select.lambda = canonical.find("lambda") != nullptr ? canonical.number("lambda") : 0;
  model::check_path(fit.select);
  return {feature::canonical_map(canonical.object(kMap), "map.", feature::Data::allowed),
          std::move(fit)};
}

}  // namespace mercer::spec
