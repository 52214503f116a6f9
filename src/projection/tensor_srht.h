// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// All forms of TensorSRHT.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/context.h"
#include "projection/sketch_kind.h"

namespace mercer::projection {

// Which rows of the Hadamard matrix the columns of a TensorSRHT take, factor by factor.

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

/// index[i * n + l] in [0, d) for factor i and column group * n + l, n = index_block. Drawing is a
/// stage of the context.
void draw_index(const IndexLaw& law, int64_t group, Context& context, std::span<int32_t> index);

/// INVALID_ARGUMENT for a tuple form with m > d^p.
void check_index(const IndexLaw& law);

// TensorSRHT of one row, with given signs and indices.

/// One factor of a TensorSRHT in d dimensions, d a power of two: signs holds D_i, d numbers or, if
/// complex, d real parts and d imaginary parts.
template <class T>
struct SrhtFactor {
  const T* signs;
  int64_t d;
  bool complex;
};

/// u of row i, padded to d numbers; im is written if the rows are complex.
template <class T>
void load_row(const FactorRows<T>& rows, const FactorShape& factor, int64_t i, int64_t d, T* re,
              T* im) noexcept;

/// table = H D_i u: d numbers, complex: d real parts, then d imaginary parts. u_im may be null.
template <class T>
void srht_table(const SrhtFactor<T>& factor, const T* u_re, const T* u_im, T* table) noexcept;

/// INVALID_ARGUMENT for a tuple form of more columns than there are tuples.
std::unique_ptr<Multilinear> make_tensor_srht(const SketchShape& shape, SrhtRows rows);

}  // namespace mercer::projection
