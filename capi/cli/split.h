// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows held out by a seeded shuffle: the same rows on every machine.
#pragma once

#include <cstdint>

#include "dataset.h"

namespace mercer::cli {

/// splitmix64 (Steele, Lea, Flood 2014), started at the seed.
class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t next();
  /// Uniform in [0, bound), bound >= 1: draws above the largest multiple of bound are drawn again.
  uint64_t below(uint64_t bound);

 private:
  uint64_t state_;
};

/// Fisher-Yates on rows of X and Y (in place where X is dense): for i = n-1 ... 1, swap rows i and
/// below(i + 1).
void shuffle_rows(Dataset* data, uint64_t seed);

/// Rows [a, a + count) change places with [b, b + count); equal or apart.
void swap_blocks(Dataset* data, int64_t a, int64_t b, int64_t count);

/// Takes out rows of weight 0, which nothing is learnt from nor scored by, and the texts that only
/// they hold; the others keep their order. Returns how many there were.
int64_t leave_out_weightless(Dataset* data);

/// Fold k of K of n rows: rows that follow each other; sizes differ by at most 1 and never shrink
/// with k, so that every fold can change places with the last rows.
struct Fold {
  int64_t first;
  int64_t rows;
};
Fold fold_of(int64_t n, int64_t K, int64_t k);

/// Rows to hold out of n for a fraction in (0, 1): rounded, at least 1, leaving at least 2.
int64_t held_out_rows(int64_t n, double fraction);

/// Shuffles the rows and returns how many, the first, are left where the fraction is held out; of a
/// fraction of 0 all, in their order.
int64_t hold_out(Dataset* data, double fraction, uint64_t seed);

}  // namespace mercer::cli
