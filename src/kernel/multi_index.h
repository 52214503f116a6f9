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

/// body(k, p_k, q_k) for every input of p or q.
template <class Body>
void for_each_input(const MultiIndex& p, const MultiIndex& q, const Body& body) {
  size_t a = 0, b = 0;
  while (a < p.size() || b < q.size()) {
    const bool in_p = a < p.size() && (b == q.size() || p[a].input <= q[b].input);
    const bool in_q = b < q.size() && (a == p.size() || q[b].input <= p[a].input);
    body(in_p ? p[a].input : q[b].input, in_p ? p[a].order : int64_t{0},
         in_q ? q[b].order : int64_t{0});
    a += in_p;
    b += in_q;
  }
}

/// Stands before the inputs of y where derivatives in x and in y share one index.
inline constexpr int64_t kOfSecond = int64_t{1} << 40;
/// p in x and q in y as one.
inline MultiIndex joint_index(const MultiIndex& p, const MultiIndex& q) {
  MultiIndex joint = p;
  for (const PartialFactor& one : q) joint.push_back({one.input + kOfSecond, one.order});
  return joint;
}

/// p + q.
MultiIndex sum_of(const MultiIndex& p, const MultiIndex& q);

}  // namespace mercer::kernel
