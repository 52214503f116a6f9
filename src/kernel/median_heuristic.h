// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The median heuristic: a lengthscale from distances of rows.
#pragma once

#include <cstdint>
#include <functional>

#include "base/context.h"
#include "base/views.h"

namespace mercer::kernel {

/// Median over pairs i < j of ||x_i - x_j||; the mean of the two middle ones for an even count. All
/// pairs if there are at most max_pairs, else that many pairs drawn with replacement by `seed`, the
/// same for every number of threads. Memory: 8 bytes per pair, 24 when drawn (OUT_OF_MEMORY above
/// the context's cap). Errors (INVALID_ARGUMENT): fewer than two rows, an entry that is not finite,
/// max_pairs < 1, a median that is 0 or overflows. A pair of sparse rows costs their stored
/// numbers.
double median_heuristic(const Rows& X, int64_t max_pairs, uint64_t seed, Context& context);

/// The median for rows that are standardised as they are read: squared_distance(i, j) is called by
/// several threads at once. Of `pairs` drawn pairs the median's rank among all pairs has mean 1/2
/// and standard deviation 1/(2 sqrt(pairs)). 0 if the middle distances are 0. `numbers`: cost of
/// one distance, for progress and cancellation. rows >= 2. Errors: a median that overflows
/// (INVALID_ARGUMENT).
double median_of_pairs(int64_t rows, int64_t pairs, uint64_t seed, int64_t numbers,
                       Context& context,
                       const std::function<double(int64_t, int64_t)>& squared_distance);

}  // namespace mercer::kernel
