// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Binary codes of Fourier features and their Hamming distances (SPEC section 11; Raginsky,
// Lazebnik, NIPS 2009).
#pragma once

#include <cstdint>

#include "feature/feature_map.h"

namespace mercer::feature {

/// Words of a code of `bits` bits.
constexpr int64_t code_words(int64_t bits) noexcept { return bits / 64 + (bits % 64 != 0 ? 1 : 0); }

/// Bit j of row i = [cos(u_ij) + t_j > 0] with column j = scale cos(u_ij), t_j uniform on (-1, 1):
/// 2 v - 1, v number j of stream (seed, phase, 1). 64 bits to a word, bit j in place j mod 64 of
/// word j / 64, bits past the last are 0; row i at codes + i words, words = code_words(features()).
/// A row's bits depend on it alone. Errors: UNSUPPORTED for a map without uniform cosines;
/// INVALID_ARGUMENT naming row, column and value where the features of the first row are NaN;
/// OUT_OF_MEMORY, CANCELLED.
void binary_codes(const FeatureMap& map, const Rows& X, Context& context, uint64_t* codes);

/// out(i, j) = the number of bits in which codes i < n of A and j < m of B differ, both of `words`
/// words without gaps. Errors: OUT_OF_MEMORY, CANCELLED.
void code_distances(int64_t words, int64_t n, const uint64_t* A, int64_t m, const uint64_t* B,
                    Context& context, int32_t* out);

}  // namespace mercer::feature
