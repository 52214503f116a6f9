// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "spec/words.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/fields.h"
#include "model/outputs/outputs.h"

namespace mercer::spec {
namespace {

constexpr const char* kUnitRows = "unit_rows";

}  // namespace

std::vector<Field> preparation_fields() {
  return {kScale.field(),
          kMissing.field(),
          kTransform.field(),
          kTargetTransform.field(),
          {.key = kUnitRows,
           .type = FieldType::boolean,
           .fallback = false,
           .help = "scale prepared rows to norm 1"},
          kExtrapolation.field()};
}

void set_preparation(const model::Fitting& fitted, Parameters& to) {
  const model::Preparing& asked = fitted.prepare;
  kScale.write(to, asked.scale);
  kMissing.write(to, asked.missing);
  kTransform.write(to, asked.transform);
  kTargetTransform.write(to, asked.target_transform);
  to.set(kUnitRows, asked.unit_rows);
  kExtrapolation.write(to, fitted.extrapolation);
}

void read_preparation(const Parameters& from, model::Fitting& fit) {
  model::Preparing& asked = fit.prepare;
  asked.scale = kScale.read(from);
  asked.missing = kMissing.read(from);
  asked.transform = kTransform.read(from);
  asked.target_transform = kTargetTransform.read(from);
  asked.unit_rows = from.boolean(kUnitRows);
  fit.extrapolation = kExtrapolation.read(from);
}

std::vector<Field> outputs_fields() {
  return {
      choice_field("structure", kStructures[0], {std::begin(kStructures), std::end(kStructures)},
                   "Gamma in K = k Gamma, from the targets' correlations C, a graph's Laplacian L, "
                   "the targets' mean squared distances S, or a matrix; auto: covariance (for a "
                   "field its kernel), or independent if that is no worse"),
      number_field("weight", kOptional, 0, kUnbounded,
                   "w in (1 - w) I + w C, (I + w L)^-1, exp(-w S); absent: searched, or 0.5 "
                   "with C, else 1"),
      {.key = "matrix",
       .type = FieldType::numbers_or_lists,
       .fallback = kOptional,
       .help = "p x p: weights of the graph, or Gamma"}};
}

std::vector<Field> structure_fields(size_t at) {
  const bool automatic = at == std::size(kStructures) - 1;
  const auto structure =
      automatic ? model::OutputStructure::covariance : static_cast<model::OutputStructure>(at);
  const auto [reads_matrix, most_weight] = model::traits_of(structure);
  std::vector<Field> fields;
  for (Field& field : outputs_fields()) {
    const std::string_view key = field.key;
    if (key == "weight" && most_weight < 0) continue;
    if (key == "matrix" && !reads_matrix) continue;
    if (key == "weight") field.most = most_weight;
    if (key == "matrix") field.fallback = {};
    fields.push_back(std::move(field));
  }
  return fields;
}

Parameters outputs_parameters(const model::Outputs& outputs) {
  Parameters to;
  to.set("structure", kStructures[static_cast<size_t>(outputs.structure)]);
  if (!std::isnan(outputs.weight)) to.set("weight", outputs.weight);
  if (!outputs.matrix.empty()) to.set("matrix", outputs.matrix);
  return to;
}

model::Outputs read_outputs(const Parameters& from) {
  model::Outputs outputs;
  const auto at = std::ranges::find(kStructures, from.text("structure")) - std::begin(kStructures);
  outputs.or_independent = at == std::ssize(kStructures) - 1;
  outputs.structure = outputs.or_independent ? model::OutputStructure::covariance
                                             : static_cast<model::OutputStructure>(at);
  if (from.find("weight") != nullptr) outputs.weight = from.number("weight");
  if (from.find("matrix") != nullptr) outputs.matrix = from.numbers("matrix");
  return outputs;
}

}  // namespace mercer::spec
