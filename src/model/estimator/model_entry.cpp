// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every model, by name.
#include "model/estimator/model_entry.h"

#include <algorithm>

#include "base/fields.h"

namespace mercer::model {

std::span<const ModelEntry* const> model_table() {
  static const ModelEntry* const table[] = {
      &ridge_model(), &logistic_model(),   &gp_model(),      &dirichlet_model(),
      &svgp_model(),  &kernel_pca_model(), &density_model(), &sparse_inputs_model()};
  return table;
}

const ModelEntry* find_model(std::string_view name) noexcept {
  for (const ModelEntry* entry : model_table())
    if (entry->name == name) return entry;
  return nullptr;
}

Parameters default_parameters(const ModelEntry& entry) {
  Parameters own;
  const Parameters canonical = check_fields({}, entry.fields, "");
  for (const auto& [key, value] : canonical.entries())
    if (key != "lambda") own.set(key, value);
  return own;
}

bool learns_kernel(const EstimatorOptions& asked) {
  const Value* const kernel = asked.parameters.find(kHyperparameters);
  return kernel != nullptr && *kernel == Value(std::string(kLearnt));
}

}  // namespace mercer::model
