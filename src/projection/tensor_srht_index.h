// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which rows of the Hadamard matrix the columns of a TensorSRHT take, factor by factor.
#pragma once

#include <cstdint>
#include <span>

#include "base/context.h"
#include "projection/multilinear.h"

namespace mercer::projection {

/// upsampled: each factor's rows are the first m of ceil(m/d) copies of all rows, shuffled;
/// stacked: rows are ceil(m/d) permutations; tuple: m distinct tuples over all factors.
enum class SrhtRows { upsampled, stacked, tuple };

/// A TensorSRHT of p factors in d dimensions (a power of two) and m columns.
struct IndexLaw {
  SrhtRows rows;
  int64_t factors;
  int64_t d;
  int64_t columns;
  uint64_t seed;
  int64_t first_factor;
};

/// Columns that are drawn together: all of them, except for stacked: some blocks of d, about a
/// thousand columns.
int64_t index_block(const IndexLaw& law) noexcept;

/// Bytes that draw_index allocates beside `index`.
int64_t index_scratch_bytes(const IndexLaw& law);

/// index[i * n + l] in [0, d) for factor i and column group * n + l, n = index_block. A stage of
/// the context.
void draw_index(const IndexLaw& law, int64_t group, Context& context, std::span<int32_t> index);

/// INVALID_ARGUMENT for a tuple form with m > d^p.
void check_index(const IndexLaw& law);

}  // namespace mercer::projection
