// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The adjoints of the products in hadamard_blocks.h: the same stages in reverse, H being symmetric.
// Every block gives n numbers; the cotangent of the input is their sum over the blocks.
#pragma once

#include <cstdint>

#include "projection/hadamard_blocks.h"

namespace mercer::projection {

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

}  // namespace mercer::projection
