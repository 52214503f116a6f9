// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Subsampled randomised Hadamard transform: blocks of columns P_pi H diag(w), H of the padded
// dimension.
#pragma once

#include <cstdint>
#include <memory>

#include "projection/projection.h"

namespace mercer::projection {

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
