// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "io/model_options.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fields.h"
#include "base/numbers.h"
#include "base/parameters.h"
#include "spec/json.h"
#include "spec/specs.h"
#include "spec/words.h"

namespace mercer::io {
namespace {

Field boolean(const char* key) { return {.key = key, .type = FieldType::boolean, .fallback = {}}; }
Field count(const char* key, double least, double most = kInfinity) {
  return {.key = key, .type = FieldType::integer, .fallback = {}, .least = least, .most = most};
}
Field number(const char* key) {
  return {.key = key, .type = FieldType::number, .fallback = {}, .least = 0};
}
Field positive(const char* key) {
  Field field = number(key);
  field.least_open = true;
  return field;
}

constexpr const char* kJoint = "joint";
constexpr double kMostSteps = 1e6;  // of a path or a cross-validation, as specs have it

/// The first are required, since every writer knows them. How lambda was found is kept for those
/// who ask what a file holds. Ranges are those of a fit.
std::vector<Field> option_fields() {
  Field seed{.key = "seed", .type = FieldType::seed, .fallback = {}};
  std::vector<Field> fields = {spec::kTask.required_field(),
                               count("classes", 0),
                               boolean("standardize"),
                               boolean("center"),
                               spec::kPrecision.required_field(),
                               spec::kSelection.required_field(),
                               number("lambda"),
                               positive("lambda_largest"),
                               positive("lambda_smallest"),
                               count("lambda_count", 1, kMostSteps),
                               count("folds", 2, kMostSteps),
                               positive("held_out_fraction"),
                               seed,
                               count("rows", 2),
                               count("outputs", 1)};
  // These have defaults, as files from before there was a choice do not name them.
  fields.push_back({.key = "ordered", .type = FieldType::boolean, .fallback = false});
  for (Field& field : spec::preparation_fields()) fields.push_back(std::move(field));
  fields.push_back({.key = kJoint,
                    .type = FieldType::object,
                    .fallback = std::make_shared<const Parameters>(),
                    .fields = spec::outputs_fields});
  return fields;
}

/// Checks that involve several fields.
void check_ranges(const ModelOptions& options) {
  const model::Selecting& fit = options.fit.select;
  require(fit.lambda_smallest <= fit.lambda_largest, MERCER_INVALID_ARGUMENT,
          "lambda_smallest = %g, expected at most lambda_largest = %g", fit.lambda_smallest,
          fit.lambda_largest);
  require(fit.held_out_fraction < 1, MERCER_INVALID_ARGUMENT,
          "held_out_fraction = %g, expected a number between 0 and 1, both excluded",
          fit.held_out_fraction);
  require(fit.selection != model::Selection::kfold || fit.folds <= options.rows,
          MERCER_INVALID_ARGUMENT, "folds = %ld, expected at most the number of rows, %ld",
          fit.folds, options.rows);
}

}  // namespace

std::string print_options(const ModelOptions& options) {
  const model::Fitting& fit = options.fit;
  const model::Selecting& how = fit.select;
  Parameters given;
  spec::kTask.write(given, fit.coding.task);
  given.set("classes", fit.coding.classes);
  given.set("standardize", fit.prepare.standardize);
  given.set("center", fit.estimate.center);
  spec::kPrecision.write(given, fit.estimate.precision);
  spec::kSelection.write(given, how.selection);
  given.set("lambda", how.lambda);
  given.set("lambda_largest", how.lambda_largest);
  given.set("lambda_smallest", how.lambda_smallest);
  given.set("lambda_count", how.lambda_count);
  given.set("folds", how.folds);
  given.set("held_out_fraction", how.held_out_fraction);
  given.set("seed", how.seed);
  given.set("ordered", how.ordered);
  given.set("rows", options.rows);
  given.set("outputs", options.outputs);
  spec::set_preparation(fit, given);
  given.set(kJoint, std::make_shared<const Parameters>(spec::outputs_parameters(fit.outputs)));
  check_ranges(options);
  return print_object(check_fields(given, option_fields(), ""));
}

ModelOptions parse_options(std::string_view json, const model::Estimating& kind) {
  const Parameters p = check_fields(spec::parse_object(json), option_fields(), "");
  ModelOptions options;
  model::Fitting& fit = options.fit;
  fit.coding = {spec::kTask.read(p), p.integer("classes")};
  fit.prepare.standardize = p.boolean("standardize");
  fit.estimate = kind;
  fit.estimate.center = p.boolean("center");
  fit.estimate.precision = spec::kPrecision.read(p);
  fit.select = {.selection = spec::kSelection.read(p),
                .lambda = p.number("lambda"),
                .lambda_largest = p.number("lambda_largest"),
                .lambda_smallest = p.number("lambda_smallest"),
                .lambda_count = p.integer("lambda_count"),
                .folds = p.integer("folds"),
                .held_out_fraction = p.number("held_out_fraction"),
                .seed = p.seed("seed"),
                .ordered = p.boolean("ordered")};
  options.rows = p.integer("rows");
  options.outputs = p.integer("outputs");
  spec::read_preparation(p, fit);
  fit.outputs = spec::read_outputs(p.object(kJoint));
  check_ranges(options);
  return options;
}

}  // namespace mercer::io
