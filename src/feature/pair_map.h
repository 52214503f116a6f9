// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of rows in two parts: a capability of maps of bilinear kernels (FeatureMap::pair()).
#pragma once

#include "feature/feature_map.h"

namespace mercer::feature {

class PairMap {
 public:
  virtual ~PairMap() = default;
  /// Columns of Y; inputs() is the sum of those of X and of Y, and apply takes rows [x | y].
  virtual int64_t right_inputs() const noexcept = 0;
  /// Z(i, :) = sum over l < locations of columns c of phi([X_k | Y_k]), k = i locations + l, X and
  /// Y dense and of one precision.
  virtual void apply_pair(const Rows& X, const Rows& Y, int64_t locations, Columns c,
                          Context& context, const ResultView& Z) const = 0;
};

/// 0 for maps of one matrix.
inline int64_t right_inputs_of(const FeatureMap& map) noexcept {
  return map.pair() == nullptr ? 0 : map.pair()->right_inputs();
}

}  // namespace mercer::feature
