// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which partial derivative: d^p = prod_k (d/dx_k)^{p_k}.
#pragma once

#include <cstdint>
#include <vector>

namespace mercer::kernel {

/// An input that is differentiated by, and how often.
struct PartialFactor {
  int64_t input;
  int64_t order;
};
/// p, without its zeros, inputs ascending; empty: the value itself.
using MultiIndex = std::vector<PartialFactor>;

/// The largest |p|: enough for every use known, and powers of frequencies stay numbers.
inline constexpr int64_t kMostDerivatives = 32;

/// |p|.
inline int64_t total_order(const MultiIndex& p) noexcept {
  int64_t total = 0;
  for (const PartialFactor& factor : p) total += factor.order;
  return total;
}

/// p + q.
MultiIndex sum_of(const MultiIndex& p, const MultiIndex& q);

}  // namespace mercer::kernel
