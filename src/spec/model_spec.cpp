// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Model specs:
// {"model":"ridge","map":{...},"lambda":x,"standardize":b,"center":b,"task":t,"precision":p}.
// Without "lambda" it is chosen by generalised cross-validation. A fitted model prints the lambda
// it has and "needs":"data".
#include <cmath>
#include <string_view>

#include "base/error.h"
#include "base/float_environment.h"
#include "spec/fields.h"
#include "spec/json.h"
#include "spec/spec.h"
#include "spec/specs.h"

namespace mercer::spec {

std::vector<Field> ridge_fields() {
  return {
      name_field("model", {"ridge"}, "which model"),
      {.key = "map", .type = FieldType::map, .fallback = {}, .help = "the feature map"},
      {.key = "lambda",
       .type = FieldType::number,
       .fallback = std::nan(""),
       .least = 0,
       .help = "n lambda is added to Z'Z; absent: chosen by generalised cross-validation"},
      {.key = "standardize",
       .type = FieldType::boolean,
       .fallback = true,
       .help = "centre and scale every input inside the model"},
      {.key = "center", .type = FieldType::boolean, .fallback = true, .help = "fit an intercept"},
      {.key = "task",
       .type = FieldType::text,
       .fallback = "regression",
       .choices = {"regression", "classification"},
       .help = "what the outputs are: numbers or classes"},
      {.key = "precision",
       .type = FieldType::text,
       .fallback = "f32",
       .choices = {"f32", "f64"},
       .help = "of the features; sums and weights are always double"},
  };
}

const char* task_name(model::Task task) noexcept {
  return task == model::Task::classification ? "classification" : "regression";
}

const char* precision_name(feature::Precision precision) noexcept {
  return precision == feature::Precision::f64 ? "f64" : "f32";
}

ModelPlan model_plan_from_spec(std::string_view json) {
  const StandardRounding rounding;
  const Envelope envelope = open_envelope(parse_object(json), "");
  require(!envelope.needs_data, MERCER_UNSUPPORTED,
          "needs = \"data\": a fitted model holds weights that a spec cannot; save it to a file");
  const Parameters canonical = check_fields(envelope.body, ridge_fields(), "");
  ModelPlan plan;
  plan.map = make_map(canonical.object("map"), {});
  const bool fixed = canonical.find("lambda") != nullptr;
  plan.options.selection = fixed ? model::Selection::fixed : model::Selection::gcv;
  if (fixed) plan.options.lambda = canonical.number("lambda");
  plan.options.standardize = canonical.boolean("standardize");
  plan.options.center = canonical.boolean("center");
  plan.options.task = canonical.text("task") == "classification" ? model::Task::classification
                                                                 : model::Task::regression;
  plan.options.precision =
      canonical.text("precision") == "f64" ? feature::Precision::f64 : feature::Precision::f32;
  return plan;
}

Parameters model_parameters(const Parameters& map, const model::FitOptions& options) {
  Parameters parameters;
  parameters.set("model", "ridge");
  parameters.set("map", std::make_shared<const Parameters>(map));
  parameters.set("lambda", options.lambda);
  parameters.set("standardize", options.standardize);
  parameters.set("center", options.center);
  parameters.set("task", task_name(options.task));
  parameters.set("precision", precision_name(options.precision));
  parameters.set("needs", "data");
  return parameters;
}

std::string to_spec(const model::Model& model) {
  return print_versioned(model_parameters(model.map->parameters(), model.options));
}

}  // namespace mercer::spec
