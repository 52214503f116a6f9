// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The scalars of a fitted model as one canonical JSON object, the section "options" of its file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/model.h"

namespace mercer::io {

struct ModelOptions {
  model::Fitting fit;
  int64_t rows = 0;     // fitted on
  int64_t outputs = 0;  // columns of the weights
};

/// INVALID_ARGUMENT for values that could not be read back: not finite, or out of range.
std::string print_options(const ModelOptions& options);
/// kind: the model's entry and its own parameters, which a file holds elsewhere. INVALID_ARGUMENT
/// naming key, value and what is allowed.
ModelOptions parse_options(std::string_view json, const model::Estimating& kind = {});

}  // namespace mercer::io
