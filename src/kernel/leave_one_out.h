// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products over all inputs but one, for each of them, without a division: by halves of the inputs,
// and halves of these, each with the product of all inputs outside. O(d log d) joins, and no memory
// beside the stack.
#pragma once

#include <cstdint>

namespace mercer::kernel {

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
