// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The product rule for columns that are multiplied: which derivatives of each factor are needed,
// block by block, and how they make the blocks of the product.
#pragma once

#include <cstdint>
#include <vector>

#include "feature/derivative.h"

namespace mercer::feature {

/// Block 0 are the features; blocks from `inner` on are the derivatives asked for.
struct LeibnizRule {
  /// Block `to` of the product starts as block `to` of the first factor times the features of the
  /// second; a term adds block a of the first times block b > 0 of the second.
  struct Term {
    int64_t to;
    int64_t a;
    int64_t b;
    double times;
  };
  std::vector<Term> terms;  // last block first, so that blocks still to be read are unchanged
  int64_t inner;
  int64_t blocks;
  /// The calls that make blocks [1, inner) of a factor, if any, then the others; none: the
  /// differential along a direction for each row.
  std::vector<Derivative> calls;

  /// The rule of a kind other than partials.
  static LeibnizRule of_kind(Derivative::Kind kind, int64_t d);
  static LeibnizRule of_direction() { return {{{1, 0, 1, 1}}, 1, 2, {}}; }
  /// The rule of d^p, p not empty: it takes every d^q, q <= p. UNSUPPORTED: more than Jet::kMost of
  /// them.
  static LeibnizRule of_partial(const MultiIndex& p);
};

}  // namespace mercer::feature
