// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The product rule for columns that are multiplied: which derivatives of the factors are asked for,
// block by block, and how the blocks of a product are made of them.
#pragma once

#include <cstdint>
#include <vector>

#include "feature/derivative.h"

namespace mercer::feature {

/// Block 0 is the features themselves; from block `inner` on they are what is wanted.
struct LeibnizRule {
  /// Block `to` of a product, which begins as block `to` of the one factor times the features of
  /// the other, += times block a of the one, block b > 0 of the other.
  struct Term {
    int64_t to;
    int64_t a;
    int64_t b;
    double times;
  };
  std::vector<Term> terms;  // block by block, the last first: what one is made of is then the old
  int64_t inner;
  int64_t blocks;
  /// Blocks [1, inner) of a factor, if any, then the others; none: the differential along
  /// directions of each row.
  std::vector<Derivative> calls;

  /// Not of Kind::partials.
  static LeibnizRule of_kind(Derivative::Kind kind, int64_t d);
  static LeibnizRule of_direction() { return {{{1, 0, 1, 1}}, 1, 2, {}}; }
  /// d^p, p not empty: every d^q, q <= p. UNSUPPORTED: more than Jet::kMost of them.
  static LeibnizRule of_partial(const MultiIndex& p);
};

}  // namespace mercer::feature
