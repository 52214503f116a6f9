// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How many features each part of a sum of maps gets.
#pragma once

#include <cstdint>
#include <vector>

namespace mercer::feature {

struct PartSize {
  double share;  // > 0, in proportion to those of the others
  int64_t least;
  int64_t step;  // of its sizes above the least; 0: the least only
};

/// Features of each part, `total` together: at least its least, and otherwise as near as steps
/// permit to its share of what parts without steps leave. Errors: INVALID_ARGUMENT for a total that
/// cannot be.
std::vector<int64_t> allot(int64_t total, const std::vector<PartSize>& sizes);

}  // namespace mercer::feature
