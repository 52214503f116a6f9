// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Binary codes of Fourier features and their Hamming distances (Raginsky,
// Lazebnik, NIPS 2009).
#pragma once

#include <cstdint>
#include <functional>

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

// The mean share of bits in which two binary codes of Fourier features differ, and the kernel from
// it (Raginsky, Lazebnik, "Locality-sensitive binary codes from shift-invariant
// kernels", NIPS 2009, lemma 2.3).

/// The k of the Gaussian kernel of variance 1, whose k(m tau) is k^(m^2), with the share (8/pi^2)
/// sum_{m>=1} (1 - k^(m^2))/(4 m^2 - 1): 1 for shares <= 0, and 0 from 4/pi^2 on, that of k = 0.
double gaussian_from_code_share(double share) noexcept;

/// k as a strictly decreasing function of t = ||tau|| >= 0, k(0) = 1.
using Profile = std::function<double(double t)>;
/// (8/pi^2) sum_{m>=1} (1 - k(m t))/(4 m^2 - 1). Within 1e-9.
double profile_code_share(const Profile& k, double t);
/// The k(t) whose share it is: 1 for shares <= 0, and 0 from 4/pi^2 on. Within 1e-8.
double profile_from_code_share(const Profile& k, double share);

}  // namespace mercer::feature
