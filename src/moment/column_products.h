// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Second moments of maps column by column, and of products of independent maps from them.
#pragma once

#include <cstdint>
#include <span>

namespace mercer::moment {

/// How columns depend on each other: two columns of one block [c block, (c + 1) block) have the
/// moments below, columns of different blocks are independent.
struct ColumnPairs {
  int64_t block = 1;
  bool alike = true;  // every two of a block; else the moments are means over them
  double square = 0;  // E a_i conj(a_j), i != j, real
  double pseudo = 0;  // E a_i a_j
};

/// Moments of a_j = N z_j(x) conj(z_j(y)), N the number of columns; the mean of every a_j is k.
struct ColumnMoments {
  double mean = 0;    // k
  double square = 0;  // E |a_j|^2
  double pseudo = 0;  // E a_j^2
  ColumnPairs pairs = {};
};

/// Ordered pairs of distinct columns of one block, among N.
double pairs_in_blocks(int64_t block, int64_t N) noexcept;

/// Moments of N columns in blocks. Those of two columns follow from the moments of one and from the
/// variance and pseudo-variance of the estimate, the mean of all a_j.
ColumnMoments dependent_columns(const ColumnMoments& one, int64_t block, bool alike,
                                double variance, double pseudo_variance, int64_t N) noexcept;

/// Moments of the products of columns of independent maps. Errors: UNSUPPORTED where several maps
/// have columns that depend on each other and one of them has pairs that are not alike, or their
/// blocks overlap in part.
ColumnMoments multiplied(std::span<const ColumnMoments> parts, int64_t N);

/// E |mean of all a_j|^2 - k^2 and, pseudo, E (mean of all a_j)^2 - k^2.
double columns_variance(const ColumnMoments& columns, int64_t N) noexcept;
double columns_pseudo_variance(const ColumnMoments& columns, int64_t N) noexcept;

}  // namespace mercer::moment
