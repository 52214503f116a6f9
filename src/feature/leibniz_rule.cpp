// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/leibniz_rule.h"

#include <utility>

#include "kernel/jet.h"

namespace mercer::feature {

LeibnizRule LeibnizRule::of_kind(Derivative::Kind kind, int64_t d) {
  const bool second = kind != Derivative::Kind::gradient;
  const int64_t inner = second ? 1 + d : 1;
  LeibnizRule rule{{}, inner, inner + Derivative{kind}.blocks(d), {}};
  for (int64_t b = rule.blocks - 1; b > 0; --b) {
    rule.terms.push_back({b, 0, b, 1});
    const bool sum = kind == Derivative::Kind::laplacian;
    for (int64_t k = 1; second && b >= inner && k <= d; ++k)
      if (sum || k == b - d) rule.terms.push_back({b, k, k, 2});
  }
  if (second) rule.calls.push_back({Derivative::Kind::gradient});
  rule.calls.push_back({kind});
  return rule;
}

LeibnizRule LeibnizRule::of_partial(const MultiIndex& p) {
  const kernel::Jet jet(p);
  const int64_t last = jet.count - 1;
  LeibnizRule rule{{}, last, jet.count, {}};
  for (int64_t c = last; c > 0; --c) {
    for (int64_t b = 1; b <= c; ++b)
      if (jet.divides(b, c)) rule.terms.push_back({c, c - b, b, jet.binomial(c, b)});
  }
  Derivative lower{Derivative::Kind::partials};
  for (int64_t c = 1; c < last; ++c) lower.partials.push_back(jet.order(c));
  if (last > 1) rule.calls.push_back(std::move(lower));
  rule.calls.push_back({Derivative::Kind::partials, {p}});
  return rule;
}

}  // namespace mercer::feature
