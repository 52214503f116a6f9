// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The columns of several maps one after the other.
#pragma once

#include <algorithm>

#include "feature/feature_map.h"

namespace mercer::feature {

/// Columns c of maps whose first column is `begin`, all complex or all real. Parts: pointers to
/// maps. Columns before `begin` stay as they are.
template <class T, class Parts>
void apply_side_by_side(const Parts& parts, int64_t begin, const Rows& X, Columns c,
                        Context& context, MatrixView<T> Z) {
  Stage stage(context, c.end - c.begin);
  for (const auto& part : parts) {
    const int64_t j0 = std::clamp(c.begin - begin, int64_t{0}, part->features());
    const int64_t j1 = std::clamp(c.end - begin, j0, part->features());
    const int64_t reals = part->is_complex() ? 2 : 1, at = begin - c.begin;
    begin += part->features();
    if (j0 == j1) continue;
    stage.share(j1 - j0);
    part->apply(X, {j0, j1}, context, Z.block_cols((at + j0) * reals, (at + j1) * reals));
    stage.advance(j1 - j0);
    context.checkpoint();
  }
}

}  // namespace mercer::feature
