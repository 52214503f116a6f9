// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fitted model as it lies in a file.
#pragma once

#include <initializer_list>
#include <memory>

#include "io/section_reader.h"
#include "model/model.h"

namespace mercer::io {

/// CORRUPT_FILE naming the path unless sizes agree with each other, with the map and with the file,
/// options are within what a fit accepts, standardiser and weights are finite, scales positive.
std::unique_ptr<model::Model> read_model(const SectionReader& file);

/// The sections of a model file, in order.
inline constexpr std::initializer_list<const char*> kModelSections = {
    "map", "numbers", "options", "mean", "scale", "weights", "intercept", "path", "metadata"};

}  // namespace mercer::io
