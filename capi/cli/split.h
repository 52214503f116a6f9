// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows held out by a seeded shuffle: the same rows on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset.h"

namespace mercer::cli {

/// Steele, Lea, Flood 2014.
uint64_t splitmix64(uint64_t* state);
inline constexpr uint64_t kSplitmixStep = 0x9e3779b97f4a7c15;  // of the state
/// 0..n-1 by Fisher-Yates and splitmix64 of the seed: for i = n-1 ... 1 swap i and one of [0, i].
std::vector<int64_t> shuffled(int64_t n, uint64_t seed);

/// Rows order[0], order[1], ... in place of those there are; others are left out.
void arrange_rows(Dataset* data, const std::vector<int64_t>& order);
void shuffle_rows(Dataset* data, uint64_t seed);

/// Takes out rows where these numbers, one for each row, are this or, of NaN, none: those of weight
/// 0, or without a label, teach and score nothing. Returns how many.
int64_t leave_out_rows(Dataset* data, const std::vector<double>& numbers, double value);

/// Rows that follow each other.
struct Fold {
  int64_t first;
  int64_t rows;
};

/// Rows to hold out of n for a fraction in (0, 1): rounded, at least 1, leaving at least 2.
int64_t held_out_rows(int64_t n, double fraction);

/// What keeps rows apart: none of a group is on both sides, or (ordered) those held out come last.
struct Split {
  uint64_t seed = 0;
  bool ordered = false;
};

/// Arranges that of the first n rows this fraction of (0, 1) comes last, to hold out; how many are
/// left, at least 2. Without groups they are shuffled, unless ordered or n says they were.
int64_t hold_out(Dataset* data, int64_t n, double fraction, const Split& split);

/// Shuffles rows unless ordered, and cuts K folds, sizes within 1: of whole groups, at most as
/// many; K = 0: one of each row or group. Ordered: of the second half, after what predicts them.
std::vector<Fold> make_folds(Dataset* data, int64_t K, const Split& split);

}  // namespace mercer::cli
