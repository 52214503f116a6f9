// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Second moments of sketches whose columns are products, over the factors, of random weights.
#pragma once

#include <span>

#include "base/numbers.h"
#include "projection/sketch_kind.h"

namespace mercer::projection {

/// How two distinct columns of a factor depend on each other: they are distinct members of an
/// orthogonal set of others + 1 columns.
struct Dependence {
  double fraction = 0;  // of all m^2 ordered pairs of columns; the other pairs are uncorrelated
  double others = kInfinity;  // where fraction = 0
  bool joint = false;         // the set is of tuples over all factors, not one set for each factor
};

/// Moments of m columns. unit_weights: every weight has magnitude 1, else they are normal.
PairMoments product_moments(bool unit_weights, const Dependence& pairs, bool complex, double m,
                            std::span<const PairMoments> factors) noexcept;

}  // namespace mercer::projection
