// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Second moments of polynomial sketches and of their compositions, in closed form. Every sketch
// turns the moments of its factors into those of its columns (SketchKind::moments), so that a tree
// of sketches is worked out node by node (SPEC section 4: one node on rows that are not random).
#pragma once

#include <cstdint>
#include <span>

#include "moment/linear_variance.h"
#include "projection/sketch_kind.h"

namespace mercer::moment {

using projection::PairMoments;

/// Moments of rows that are not random: S = R = s^2, Q = T = U.
PairMoments exact_pair(const PairSums& sums) noexcept;

/// Sums of the vectors [scale x, constant], [scale y, constant] (projection::FactorShape).
PairSums augmented(const PairSums& sums, double scale, double constant) noexcept;

/// Moments of the real vectors [Re u | Im u].
PairMoments as_real(const PairMoments& complex) noexcept;

/// Variance of Re <u, v>, and pseudo-variance E (<u, v> - mean)^2.
double real_variance(const PairMoments& moments) noexcept;
double pseudo_variance(const PairMoments& moments) noexcept;

}  // namespace mercer::moment
