// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Structured projections made of Walsh-Hadamard transforms: the sizes of blocks, and the two
// products with given numbers. Blocks are d' x d' with d' the next power of two >= max(d, 16):
// smaller ones hold too few distinct frequencies (two at d' = 2, twelve at 4).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/aligned.h"
#include "projection/projection.h"
#include "transform/panel.h"

namespace mercer::projection {

/// Columns in groups of whole blocks, which are drawn and applied together.
struct BlockGroups {
  int64_t n;         // columns of a block
  int64_t together;  // in a group

  int64_t columns() const noexcept { return n * together; }  // of a group
  int64_t count(int64_t F) const noexcept { return (F - 1) / columns() + 1; }
};

/// Index type of permutations, as wide as the numbers they move.
template <class T>
using PermutationIndex = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

/// SORF (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar 2016): out = scale o (H D1 H D2 H D3 x), H
/// unnormalised. `signs` holds D3 of all `blocks` blocks (n each), then D2, then D1; x is the same
/// for every block; out holds blocks * n numbers.
template <class T>
void sorf_blocks(const T* x, const T* signs, const T* scale, int64_t n, int64_t blocks,
                 T* out) noexcept;

/// Fastfood (Le, Sarlos, Smola 2013): out = scale o (H G Pi H B x), (Pi v)_i = v[permutation_i];
/// numbers of block b at offset b * n, permutations relative to their block. scratch holds blocks *
/// n numbers.
template <class T>
void fastfood_blocks(const T* x, const T* signs, const PermutationIndex<T>* permutation,
                     const T* gaussian, const T* scale, int64_t n, int64_t blocks, T* scratch,
                     T* out) noexcept;
/// As above for transform::kPermutedRows rows at once, with the same bits: row r is at x[r], and
/// the results of rows are blocks * n numbers apart. scratch holds as many numbers as out.
template <class T>
void fastfood_rows(const T* const* x, const T* signs, const PermutationIndex<T>* permutation,
                   const T* gaussian, const T* scale, int64_t n, int64_t blocks, T* scratch,
                   T* out) noexcept;

/// d' for d inputs; INVALID_ARGUMENT beyond 2^28.
int64_t padded_dimension(int64_t d);

/// Groups of about 1,024 columns, which are whole panels and not many more than F.
BlockGroups hadamard_groups(int64_t padded, int64_t F) noexcept;

/// s_j: the norm of column j, drawn or fixed in dimension d', over the lengthscale if that is one
/// number (several divide the inputs instead), in the arguments' unit.
double column_norm(const ProjectionArguments& arguments, int64_t padded, int64_t j) noexcept;

// The adjoints of these products: the same stages in reverse, H being symmetric.
// Every block gives n numbers; the cotangent of the input is their sum over the blocks.

/// out = D3 H D2 H D1 H (scale o p), block by block; arrays as for sorf_blocks, p holds blocks * n
/// numbers.
template <class T>
void sorf_blocks_transpose(const T* p, const T* signs, const T* scale, int64_t n, int64_t blocks,
                           T* out) noexcept;

/// out = B H Pi' G H (scale o p), block by block; arrays as for fastfood_blocks, scratch and p hold
/// blocks * n numbers each.
template <class T>
void fastfood_blocks_transpose(const T* p, const T* signs, const PermutationIndex<T>* permutation,
                               const T* gaussian, const T* scale, int64_t n, int64_t blocks,
                               T* scratch, T* out) noexcept;

/// x[k] += inverse[k] (or 1, if it is null) times the sum over blocks of parts[b n + k], k in
/// [0, d).
template <class T>
void add_block_sums(const T* parts, int64_t n, int64_t blocks, const double* inverse, int64_t d,
                    T* x) noexcept;

// Subsampled randomised Hadamard transform: blocks of columns P_pi H diag(w), H of the padded
// dimension.

/// The next power of two >= d, 1 for d = 1: no padding to 16 here. INVALID_ARGUMENT beyond 2^28.
int64_t srht_dimension(int64_t d);

/// out[b n + i] = (H (signs_b o x))[index[b n + i]], H unnormalised, n numbers of block b at offset
/// b n, indices relative to their block; x is the same for every block. scratch holds blocks n.
template <class T>
void srht_blocks(const T* x, const T* signs, const int32_t* index, int64_t n, int64_t blocks,
                 T* scratch, T* out) noexcept;

/// The adjoint, block by block: out[b n + k] = signs_{b,k} (H v_b)_k with v_b[index[b n + i]] =
/// p[b n + i]; index runs over all of a block.
template <class T>
void srht_blocks_transpose(const T* p, const T* signs, const int32_t* index, int64_t n,
                           int64_t blocks, T* out) noexcept;

/// P (n x D) in blocks of n = srht_dimension(d) columns, each with its own signs (stream seed,
/// sign, block) and permutation (seed, permutation, block): the rows of H are drawn without
/// replacement inside a block. D log n + d per row, nnz in place of d for sparse rows.
std::unique_ptr<Projection> make_srht(int64_t d, int64_t D, uint64_t seed);

}  // namespace mercer::projection
