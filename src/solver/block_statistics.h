// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row statistics of a source.
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

/// The statistics summed over the processes that share the source; unchanged where there is one.
RowStatistics take_reduced(const BlockSource& source, RowStatistics&& statistics);

}  // namespace mercer::solver
