// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every model, by name.
#include "model/model_entry.h"

namespace mercer::model {

std::span<const ModelEntry* const> model_table() {
  static const ModelEntry* const table[] = {
      &ridge_model(),
  };
  return table;
}

const ModelEntry* find_model(std::string_view name) noexcept {
  for (const ModelEntry* entry : model_table())
    if (entry->name == name) return entry;
  return nullptr;
}

}  // namespace mercer::model
