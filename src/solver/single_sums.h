// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row statistics by single-precision products, for trials that are thrown away: half the time.
#pragma once

#include "solver/block_statistics.h"

namespace mercer::solver {

/// add_blocks whose products are taken in single precision, over 512 rows at a time about the mean
/// of the first block, and added up in double. An entry of the Gram matrix is off by about 1e-7 of
/// the two diagonal ones, independently of others: what that is to its eigenvalues a lambda of 1e-8
/// exceeds. Sources of features in double go by add_blocks. Scratch: D x D and 512 x D floats.
void add_blocks_single(const BlockSource& source, RowStatistics& statistics, Context& context,
                       const RowsDone& done = {});

}  // namespace mercer::solver
