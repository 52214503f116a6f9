// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fitted models in files.
#pragma once

#include <memory>

#include "io/container.h"
#include "model/model.h"

namespace mercer::io {

/// CORRUPT_FILE naming the input unless sizes agree with each other, with the map and with the
/// file, options are within what a fit accepts, standardiser and weights are finite, scales
/// positive. The sections that a kind of model has are required here.
std::unique_ptr<model::Model> read_model(const SectionReader& file);

}  // namespace mercer::io
