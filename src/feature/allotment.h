// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which part of a sum of maps gets how many of its features.
#pragma once

#include <cstdint>
#include <vector>

namespace mercer::feature {

struct PartSize {
  double share;  // > 0, in proportion to those of the others
  int64_t least;
  int64_t step;  // of more features than the least; 0: it has no more
};

/// Features of each part, `total` together: as near to their shares of what the fixed ones leave as
/// steps permit, and its least ones. Errors: INVALID_ARGUMENT for a total that cannot be.
std::vector<int64_t> allot(int64_t total, const std::vector<PartSize>& sizes);

}  // namespace mercer::feature
