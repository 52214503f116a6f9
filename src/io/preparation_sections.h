// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Preparation and ranges of rows as sections of a model's file. "mean" and "scale" are in every
// file, these only where they hold something.
#pragma once

#include <cstdint>
#include <vector>

#include "io/section_reader.h"
#include "model/model.h"

namespace mercer::io {

/// "fill": d numbers. "flagged": the indices of inputs with a flag. "curves" and "target_curves":
/// for each column with a curve its index, then its knots. "ranges": four numbers for each input,
/// then for each target of a regression. "hashing": the number of inputs, of buckets, which are the
/// map's inputs, and the seed in two halves, the low one first.
inline constexpr const char* kPreparationSections[] = {"fill",          "flagged", "curves",
                                                       "target_curves", "ranges",  "hashing"};

/// The numbers of each of kPreparationSections, in their order; where there are none, the section
/// is left out.
std::vector<std::vector<double>> preparation_numbers(const model::Model& model);

/// Reads preparation and ranges; model.options must be read before. `inputs`: of the map.
void read_preparation(const SectionReader& file, int64_t inputs, int64_t outputs,
                      model::Model& model);

/// INVALID_ARGUMENT for values that no fit produces.
void check_preparation(const model::Model& model, int64_t inputs);

}  // namespace mercer::io
