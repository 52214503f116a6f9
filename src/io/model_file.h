// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A fitted model as it lies in a file: everything but the map object, which costs its draw of
// frequencies to make.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "base/parameters.h"
#include "io/section_reader.h"
#include "model/model.h"

namespace mercer::io {

struct ModelParts {
  Parameters map;                   // canonical
  std::vector<double> map_numbers;  // for "needs":"data"
  model::Model model;               // but for .map
};

/// Sizes agree with each other and with the file, standardiser and weights are finite, scales
/// positive: else CORRUPT_FILE.
ModelParts read_model(const SectionReader& file);

/// The sections of a model file, in order.
inline constexpr std::initializer_list<const char*> kModelSections = {
    "map", "numbers", "options", "mean", "scale", "weights", "intercept", "path", "metadata"};

}  // namespace mercer::io
