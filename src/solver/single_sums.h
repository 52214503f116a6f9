// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row statistics by single-precision products, in half the time: for trials of a search.
#pragma once

#include "solver/block_statistics.h"

namespace mercer::solver {

/// add_blocks with products in single precision, over 512 rows at a time about the mean of the
/// first block, added up in double. Entries of the Gram matrix have independent errors of about
/// 1e-7 of their diagonal entries; the effect on eigenvalues is below n lambda for lambda = 1e-8.
/// Features in double go to add_blocks. Scratch: D x D and 512 x D floats.
void add_blocks_single(const BlockSource& source, RowStatistics& statistics, Context& context,
                       const RowsDone& done = {});

}  // namespace mercer::solver
