// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Second moments of maps column by column, and of products of independent maps from them.
#pragma once

#include <cstdint>
#include <span>

namespace mercer::moment {

/// How columns depend on each other: two of one block [c block, (c + 1) block) have the moments
/// below, all others are independent.
struct ColumnPairs {
  int64_t block = 1;
  bool alike = true;  // every two of a block; else the moments are means over them
  double square = 0;  // E a_i conj(a_j), i != j, real
  double pseudo = 0;  // E a_i a_j
};

/// Of a_j = N z_j(x) conj(z_j(y)), N the number of columns, each of the mean k.
struct ColumnMoments {
  double mean = 0;    // k
  double square = 0;  // E |a_j|^2
  double pseudo = 0;  // E a_j^2
  ColumnPairs pairs = {};
};

/// Ordered pairs of distinct columns of one block, among N.
double pairs_in_blocks(int64_t block, int64_t N) noexcept;

/// Of N columns in such blocks: the moments of two of them follow from those of one and from the
/// variance and pseudo-variance of the estimate, the mean of all a_j.
ColumnMoments dependent_columns(const ColumnMoments& one, int64_t block, bool alike,
                                double variance, double pseudo_variance, int64_t N) noexcept;

/// Of the products of the columns of independent maps. Errors: UNSUPPORTED where two of them have
/// columns that depend on each other, and those of one are not alike, or blocks overlap in part.
ColumnMoments multiplied(std::span<const ColumnMoments> parts, int64_t N);

/// E |mean of all a_j|^2 - k^2 and, pseudo, E (mean of all a_j)^2 - k^2.
double columns_variance(const ColumnMoments& columns, int64_t N) noexcept;
double columns_pseudo_variance(const ColumnMoments& columns, int64_t N) noexcept;

}  // namespace mercer::moment
