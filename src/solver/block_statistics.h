// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row statistics of a source, in double, or by products in single precision.
#pragma once

#include "solver/block_source.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

/// Message for features that are NaN, infinite or of squares that overflow, such as the skewed
/// chi^2 below its shift, or high powers of large rows.
inline constexpr const char kFeaturesNotFinite[] =
    "the map's features of X are not finite, or their squares overflow: X is outside the kernel's "
    "domain or too large";

/// INVALID_ARGUMENT with that message unless all sums of squares are finite.
void require_finite_features(const RowStatistics& statistics);

/// Adds (removes) the source's rows of this process.
void add_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                const RowsDone& done = {});
void remove_blocks(const BlockSource& source, RowStatistics& statistics, Context& context,
                   const RowsDone& done = {});

/// Sums the statistics over the processes, after moving them to one origin: the mean of all rows.
void all_reduce(RowStatistics& statistics, Reduction& reduction);
/// The statistics summed over the processes that share the source; unchanged where there is one.
RowStatistics take_reduced(const BlockSource& source, RowStatistics&& statistics);

// Row statistics with a Gram matrix by single-precision products, in half the time: for trials of a
// search, and for a factor that conjugate gradients correct.

/// Rows whose products are added up in single precision.
inline constexpr int64_t kGramRows = 4096;

/// What add_blocks_single does with features in double: nothing, or it rounds them too.
enum class DoubleRows { stay, round };

/// add_blocks with Z'Z in single precision, over kGramRows rows at a time about the mean of the
/// first 512, added up in double. Entries of the Gram matrix have independent errors of about 1e-7
/// of their diagonal entries; the effect on eigenvalues is below n lambda for lambda = 1e-8. Z'Y
/// and all other sums are exact as those of add_blocks. Scratch: D x D and 512 x D floats.
void add_blocks_single(const BlockSource& source, RowStatistics& statistics, Context& context,
                       const RowsDone& done = {}, DoubleRows of_double = DoubleRows::stay);

}  // namespace mercer::solver
