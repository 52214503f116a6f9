// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A slice of the columns of a map whose features come in parts of F columns each ([cos | sin],
// [Re | Im], ...): which columns of a part it needs, and where they go in a row of Z.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/context.h"
#include "feature/feature_map.h"
#include "projection/projection.h"

namespace mercer::feature {

class ColumnSlice {
 public:
  /// Columns c of `parts` parts of F columns, each column `reals` numbers.
  ColumnSlice(int64_t F, int parts, int reals, Columns c) noexcept
      : F_(F), parts_(parts), reals_(reals), c_(c) {}

  int parts() const noexcept { return parts_; }
  int reals() const noexcept { return reals_; }

  /// The columns [begin, end) of part p that are in the slice; begin = end: none.
  projection::Blocks part(int p) const noexcept {
    const int64_t begin = std::clamp(c_.begin - p * F_, int64_t{0}, F_);
    return {begin, std::clamp(c_.end - p * F_, begin, F_)};
  }
  /// The columns that some part needs, in one range.
  projection::Blocks hull() const noexcept {
    projection::Blocks all{F_, 0};
    for (int p = 0; p < parts_; ++p) {
      const projection::Blocks own = part(p);
      if (own.begin == own.end) continue;
      all = {std::min(all.begin, own.begin), std::max(all.end, own.end)};
    }
    return all;
  }
  /// Whether every part needs all of them.
  bool covers(projection::Blocks columns) const noexcept {
    for (int p = 0; p < parts_; ++p) {
      const projection::Blocks own = part(p);
      if (columns.begin < own.begin || own.end < columns.end) return false;
    }
    return true;
  }
  /// Numbers from the start of a row of Z to column j of part p, negative where that is not in it.
  int64_t offset(int p, int64_t j) const noexcept { return (p * F_ + j - c_.begin) * reals_; }
  /// Distance from a column of one part to the same column of the next.
  int64_t part_step() const noexcept { return F_ * reals_; }

 private:
  int64_t F_;
  int parts_;
  int reals_;
  Columns c_;
};

/// Calls body(piece) for c. If c takes the end of one part and the beginning of the next, and no
/// column of both, it is called for each side of the boundary, so that what lies between is not
/// computed. One stage of the context.
template <class Body>
void for_each_piece(Columns c, int64_t F, Context& context, const Body& body) {
  const int64_t cut = (c.begin / F + 1) * F;
  const bool apart = cut < c.end && c.end - F < c.begin;
  if (!apart) return body(c);
  Stage stage(context, c.end - c.begin);
  for (const Columns piece : {Columns{c.begin, cut}, Columns{cut, c.end}}) {
    stage.share(piece.end - piece.begin);
    body(piece);
    stage.advance(piece.end - piece.begin);
    context.checkpoint();
  }
}

}  // namespace mercer::feature
