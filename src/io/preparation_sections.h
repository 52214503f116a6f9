// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How rows are prepared and where the training rows lay, as sections of a model's file. Beside
// "mean" and "scale", which every file has, they are there only where they hold something.
#pragma once

#include <cstdint>
#include <vector>

#include "io/section_reader.h"
#include "model/model.h"

namespace mercer::io {

/// "fill": d numbers. "flagged": the numbers of the inputs with a flag. "curves" and
/// "target_curves": for each column with a curve its number, then its knots. "ranges": four numbers
/// for each input, then for each target of a regression. "hashing": the inputs, the buckets, which
/// are the map's inputs, and the seed in two halves, the low one first.
inline constexpr const char* kPreparationSections[] = {"fill",          "flagged", "curves",
                                                       "target_curves", "ranges",  "hashing"};

/// The numbers of each of kPreparationSections, in their order; none: no section.
std::vector<std::vector<double>> preparation_numbers(const model::Model& model);

/// Preparation and ranges; model.options must be read. `inputs`: of the map.
void read_preparation(const SectionReader& file, int64_t inputs, int64_t outputs,
                      model::Model& model);

/// INVALID_ARGUMENT for what no fit learns.
void check_preparation(const model::Model& model, int64_t inputs);

}  // namespace mercer::io
