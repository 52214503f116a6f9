// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fitted models in files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/container.h"
#include "model/model.h"

namespace mercer::io {

/// CORRUPT_FILE naming the input unless sizes agree with each other, with the map and with the
/// file, options are within what a fit accepts, standardiser and weights are finite, scales
/// positive. The sections that a kind of model has are required here.
std::unique_ptr<model::Model> read_model(const SectionReader& file);

// The scalars of a fitted model as one canonical JSON object, the section "options" of its file.

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
