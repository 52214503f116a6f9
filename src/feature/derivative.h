// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which derivatives of features are asked for: blocks of as many columns as the map has, one block
// for each partial derivative.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/multi_index.h"

namespace mercer::feature {

using kernel::MultiIndex;
using kernel::PartialFactor;

struct Derivative {
  enum class Kind { partials, gradient, hessian_diagonal, laplacian };
  Kind kind;
  std::vector<MultiIndex> partials = {};  // for Kind::partials

  /// Blocks of columns of the result for a map of d inputs.
  int64_t blocks(int64_t d) const noexcept {
    if (kind == Kind::partials) return static_cast<int64_t>(partials.size());
    return kind == Kind::laplacian ? 1 : d;
  }
  /// The highest order among them.
  int64_t highest() const noexcept {
    if (kind == Kind::gradient) return 1;
    if (kind != Kind::partials) return 2;
    int64_t most = 0;
    for (const MultiIndex& order : partials) most = std::max(most, total_order(order));
    return most;
  }
};

/// Block b is the sum of the partial derivatives of entry b.
std::vector<std::vector<MultiIndex>> partials_of(const Derivative& what, int64_t d);

}  // namespace mercer::feature
