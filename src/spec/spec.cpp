// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Specs of kernels, maps and models.
#include "spec/spec.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "model/estimator/model_entry.h"
#include "spec/json.h"
#include "spec/specs.h"
#include "spec/words.h"

namespace mercer::spec {

// Kernel specs: {"kernel": NAME, parameters of the kernel's entry}, or NAME alone.

std::unique_ptr<kernel::Kernel> kernel_from_spec(std::string_view json) {
  return kernel::make_kernel(parse_kernel(json));
}

std::string to_spec(const kernel::Kernel& kernel) { return print_versioned(kernel.parameters()); }

// Map specs: {"map": NAME, "kernel": {...}, "inputs": d, "features": D, "seed": s, parameters of
// the map's entry}; and the top level of every spec.

namespace {

// A file's spec may hold a lengthscale per input and be longer than one that is typed.
constexpr int64_t kMostFileSpecBytes = int64_t{1} << 28;

}  // namespace

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

// The fields of a model's spec, and the specs of fitted models, which have "needs":"data".
// fit_plan.cpp reads specs of fits.

namespace {

// Completed once the number of inputs is known from the rows.
Parameters map_as_given(const Parameters& given, const std::string&) { return given; }

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

/// Keys of files.
Field fitted_name_field() { return name_field("model", model_names(), "which model"); }

const model::ModelEntry& entry_of(const Parameters& given, const Field& field) {
  Parameters named;
  if (const Value* value = given.find(field.key)) named.set(field.key, *value);
  const std::string found = check_fields(named, {&field, 1}, "").text(field.key);
  return found == kAutomaticModel ? model::ridge_model() : *model::find_model(found);
}

Field object_field(const char* key, std::vector<Field> (*fields)(), const char* help) {
  return {.key = key,
          .type = FieldType::object,
          .fallback = std::make_shared<const Parameters>(),
          .help = help,
          .fields = fields};
}

std::vector<Field> prepare_fields() {
  std::vector<Field> fields = {{.key = "standardize",
                                .type = FieldType::boolean,
                                .fallback = true,
                                .help = "centre and scale every input inside the model"}};
  for (Field& field : preparation_fields()) fields.push_back(std::move(field));
  for (Field& field : fields) {
    const std::string_view key = field.key;
    if (key != kTransform.key && key != kTargetTransform.key) continue;
    field.choices.push_back(kAutomaticTransform);
    field.fallback = std::string(kAutomaticTransform);
    field.help = key == kTransform.key
                     ? "of each input: logarithm if skewed, or normal ranks; auto: the best in a "
                       "search, else none"
                     : "of regression targets, undone in predictions; auto: the best in a search "
                       "for skewed targets, else none";
  }
  return fields;
}

std::vector<Field> select_fields() {
  const model::Selecting usual;
  std::vector<const char*> ways(std::begin(kSelectWays), std::end(kSelectWays));
  return {
      choice_field("by", "auto", std::move(ways),
                   "the criterion minimised over the lambdas of the path; auto: leave_one_out, "
                   "for grouped or ordered rows folds, for other losses than squares held_out"),
      integer_field("folds", usual.folds, 2, 1e6, "the number of folds"),
      {.key = "fraction",
       .type = FieldType::number,
       .fallback = usual.held_out_fraction,
       .least = 0,
       .most = 1,
       .least_open = true,
       .most_open = true,
       .help = "the share of rows held out"},
      number_above_field("largest", usual.lambda_largest, 0, kUnbounded,
                         "lambda of the path over the mean of k(x, x)"),
      number_above_field("smallest", usual.lambda_smallest, 0, kUnbounded,
                         "lambda of the path over the mean of k(x, x)"),
      count_field("count", usual.lambda_count, 1000, "the number of lambdas, spaced geometrically")};
}

/// The keys of every model, after its own.
std::vector<Field> common_fields() {
  return {
      number_above_field("lengthscale", kOptional, 0, kUnbounded,
                         "the kernel's, in units of prepared inputs; of several given with the "
                         "kernel, a factor of them; absent: searched, or without a search the "
                         "kernel's own or the rows' median distance"),
      choice_field("ard", kArdWords[0], {std::begin(kArdWords), std::end(kArdWords)},
                   "whether a search learns a lengthscale for each input; auto: if there are "
                   "enough rows, and kept if better"),
      choice_field("spectrum", kSpectrumWords[0],
                   {std::begin(kSpectrumWords), std::end(kSpectrumWords)},
                   "of Fourier features in a search of model gp by the evidence: drawn from the "
                   "kernel's spectral distribution; learnt: frequencies and weights follow the "
                   "evidence, and are kept if rows held out are likelier"),
      integer_field("most_features", int64_t{0}, 0, 2147483647.0,
                    "the limit to which a search doubles the features, if not given, while scores "
                    "improve; 0: 8192, while their square times the rows is at most 2^39"),
      {.key = "search",
       .type = FieldType::boolean,
       .fallback = true,
       .help = "choose all that the spec leaves open; false: lambda alone (the default with a "
               "caller's map or streamed rows)"},
      choice_field("effort", kEffortWords[0], {std::begin(kEffortWords), std::end(kEffortWords)},
                   "of a search: full; quick: one lengthscale, inputs and targets as they are, "
                   "2048 features, least squares, and a score of rows left out once, wherever "
                   "the spec does not say otherwise"),
      object_field("outputs", outputs_fields,
                   "how several outputs are learnt together, or the structure's name alone"),
      object_field("select", select_fields, "how lambda is chosen without a search"),
      object_field("prepare", prepare_fields, "how inputs and targets are prepared"),
      {.key = "center", .type = FieldType::boolean, .fallback = true, .help = "fit an intercept"},
      kTask.field(),
      integer_field("classes", int64_t{0}, 0, 1e6,
                    "the number of classes; 0: one more than the largest class number"),
      kPrecision.field(),
      {.key = "seed",
       .type = FieldType::seed,
       .fallback = uint64_t{0},
       .help = "of splits and samples, and of the map unless that has its own"},
      {.key = "ordered",
       .type = FieldType::boolean,
       .fallback = false,
       .help = "rows are in the order of time: held-out rows are later than the rows that predict "
               "them"},
      {.key = "assess",
       .type = FieldType::boolean,
       .fallback = true,
       .help = "score the search on rows that no choice has seen"},
  };
}

/// Whether the field is stored in Selecting.
bool is_lambda(const Field& field) { return std::string_view(field.key) == "lambda"; }

}  // namespace

Parameters own_parameters(const model::ModelEntry& entry, const Parameters& canonical) {
  Parameters own;
  for (const Field& field : entry.fields) {
    const Value* value = canonical.find(field.key);
    if (value != nullptr && !is_lambda(field)) own.set(field.key, *value);
  }
  return own;
}

std::vector<Field> fit_fields() {
  std::vector<Field> fields = {model_name_field(),
                               {.key = "map",
                                .type = FieldType::map,
                                .fallback = std::make_shared<const Parameters>(),
                                .help = "the feature map, or its name alone; missing keys are "
                                        "filled in, \"inputs\" from the rows",
                                .canonical = map_as_given}};
  for (Field& field : common_fields()) fields.push_back(std::move(field));
  return fields;
}

std::vector<Field> model_fields(const model::ModelEntry& entry) {
  std::vector<Field> fields = fit_fields();
  fields.insert(fields.begin() + 2, entry.fields.begin(), entry.fields.end());
  return fields;
}

bool selection_reads(model::Selection by, std::string_view key) {
  if (key == "folds") return by == model::Selection::kfold;
  if (key == "fraction") return by == model::Selection::held_out;
  return true;
}

std::vector<Field> select_way_fields(size_t at) {
  std::vector<Field> fields;
  for (Field& field : select_fields())
    if (at == 0 || selection_reads(static_cast<model::Selection>(at), field.key))
      fields.push_back(std::move(field));
  return fields;
}

const model::ModelEntry& model_entry(const Parameters& given) {
  return entry_of(given, model_name_field());
}

Parameters model_parameters(const Parameters& map, const model::Fitting& fitted) {
  const auto& [entry, own_values, center, precision, coupling] = fitted.estimate;
  Parameters parameters;
  parameters.set("model", entry->name);
  parameters.set("map", std::make_shared<const Parameters>(map));
  for (const Field& field : entry->fields) {
    const Value* own = own_values.find(field.key);
    if (is_lambda(field)) {
      parameters.set(field.key, fitted.select.lambda);
    } else if (own != nullptr || std::holds_alternative<std::string>(field.fallback) ||
               std::holds_alternative<bool>(field.fallback)) {
      parameters.set(field.key, own != nullptr ? *own : field.fallback);
    }
  }
  if (fitted.outputs.structure != model::OutputStructure::independent)
    parameters.set("outputs",
                   std::make_shared<const Parameters>(outputs_parameters(fitted.outputs)));
  parameters.set("search", false);  // nothing is left open
  Parameters prepare;
  prepare.set("standardize", fitted.prepare.standardize);
  set_preparation(fitted, prepare);
  parameters.set("prepare", std::make_shared<const Parameters>(std::move(prepare)));
  parameters.set("center", center);
  kTask.write(parameters, fitted.coding.task);
  parameters.set("classes", fitted.coding.classes);
  kPrecision.write(parameters, precision);
  parameters.set("seed", fitted.select.seed);
  parameters.set("ordered", fitted.select.ordered);
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
  const model::ModelEntry& entry = entry_of(given, fitted_name_field());
  std::vector<Field> fields = {fitted_name_field()};
  std::ranges::copy_if(entry.fields, std::back_inserter(fields),
                       [](const Field& field) { return !is_lambda(field); });
  return {&entry, own_parameters(entry, check_fields(given, fields, ""))};
}

std::string to_spec(const model::Model& model) {
  return print_versioned(model_parameters(model.map->parameters(), model.fit));
}

}  // namespace mercer::spec
