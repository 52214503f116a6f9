// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row statistics with a Gram matrix by single-precision products, in half the time: for trials of a
// search, and for a factor that conjugate gradients correct.
#pragma once

#include "solver/block_statistics.h"

namespace mercer::solver {

/// Rows whose products are added up in single precision.
inline constexpr int64_t kGramRows = 4096;

/// What add_blocks_single does with features in double: nothing, or it rounds them too.
enum class DoubleRows { stay, round };

/// add_blocks with Z'Z in single precision, over kGramRows rows at a time about the mean of the first
/// 512, added up in double. Entries of the Gram matrix have independent errors of about 1e-7 of
/// their diagonal entries; the effect on eigenvalues is below n lambda for lambda = 1e-8. Z'Y and
/// all other sums are exact as those of add_blocks. Scratch: D x D and 512 x D floats.
void add_blocks_single(const BlockSource& source, RowStatistics& statistics, Context& context,
                       const RowsDone& done = {}, DoubleRows of_double = DoubleRows::stay);

}  // namespace mercer::solver
