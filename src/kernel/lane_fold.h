// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums and products over the inputs of two rows. Independent lanes let the compiler vectorise in a
// fixed order, symmetric in x and y where the terms are.
#pragma once

#include <cstdint>

namespace mercer::kernel {

/// How terms are joined: the neutral element and the operation.
struct Sum {
  static constexpr double kEmpty = 0;
  static double join(double a, double b) noexcept { return a + b; }
};
struct Product {
  static constexpr double kEmpty = 1;
  static double join(double a, double b) noexcept { return a * b; }
};

/// term(0), ..., term(d - 1), joined.
template <class Join, class Term>
double lane_fold(int64_t d, const Term& term) noexcept {
  constexpr int64_t kLanes = 8;
  double lane[kLanes];
  for (double& l : lane) l = Join::kEmpty;
  int64_t j = 0;
  for (; j + kLanes <= d; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lane[l] = Join::join(lane[l], term(j + l));
  }
  for (int64_t l = 0; j < d; ++j, ++l) lane[l] = Join::join(lane[l], term(j));
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t l = 0; l < width; ++l) lane[l] = Join::join(lane[l], lane[l + width]);
  }
  return lane[0];
}

// Products over all inputs but one, for each of them, without a division: by halves of the inputs,
// and halves of these, each with the product of all inputs outside. O(d log d) joins, and no memory
// beside the stack.

/// Calls leaf(k, state) for k in [first, last), state being `outside` joined with all inputs of the
/// range but k; join(state, j) joins input j.
template <class State, class Join, class Leaf>
void leave_one_out(int64_t first, int64_t last, const State& outside, const Join& join,
                   const Leaf& leaf) noexcept {
  if (last - first <= 1) {
    if (first < last) leaf(first, outside);
    return;
  }
  const int64_t middle = first + (last - first) / 2;
  State state = outside;
  for (int64_t j = middle; j < last; ++j) join(state, j);
  leave_one_out(first, middle, state, join, leaf);
  state = outside;
  for (int64_t j = first; j < middle; ++j) join(state, j);
  leave_one_out(middle, last, state, join, leaf);
}

}  // namespace mercer::kernel
