// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The features of rows, some rows at a time, so that they stay in cache until they are used.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/aligned.h"
#include "base/rows.h"
#include "feature/feature_map.h"

namespace mercer::feature {

inline constexpr int64_t kBlockBytes = int64_t{1} << 21;
inline constexpr int64_t kLeastBlockRows = 32;
inline constexpr int64_t kMostBlockRows = 4096;

/// body(first, Z) for blocks of rows and columns c of their features, of the precision of X. The
/// map is real and of one output.
template <class View, class Body>
void for_each_block(const FeatureMap& map, const View& X, Columns c, Context& context,
                    const Body& body) {
  using T = RowNumberOf<View>;
  const int64_t D = c.end - c.begin;
  const int64_t fitting = kBlockBytes / (D * static_cast<int64_t>(sizeof(T)));
  const int64_t size = std::min(X.rows, std::clamp(fitting, kLeastBlockRows, kMostBlockRows));
  const Matrix<T> Z(size, D, context, "a block of features");
  Stage stage(context, X.rows);
  for (int64_t first = 0; first < X.rows; first += size) {
    const int64_t count = std::min(size, X.rows - first);
    const MatrixView<T> block = Z.view().block_rows(0, count);
    stage.share(count);
    map.apply(X.block_rows(first, first + count), c, context, block);
    body(first, MatrixView<const T>(block));
    stage.advance(count);
    context.checkpoint();
  }
}
/// The same with all features.
template <class View, class Body>
void for_each_block(const FeatureMap& map, const View& X, Context& context, const Body& body) {
  for_each_block(map, X, Columns{0, map.features()}, context, body);
}

}  // namespace mercer::feature
