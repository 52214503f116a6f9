// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Second moments of polynomial sketches and of their compositions, in closed form. Every sketch
// turns the moments of its factors into those of its columns, so that a tree of sketches is done
// node by node (SPEC section 4 is the case of one node on deterministic rows).
#pragma once

#include <cstdint>
#include <span>

#include "moment/linear_variance.h"
#include "projection/multilinear.h"

namespace mercer::moment {

/// Expectations over a pair of random vectors u (made of x), v (made of y), possibly complex.
struct PairMoments {
  double mean;  // E <u, v>, <u, v> = sum_k u_k conj v_k
  double N;     // E ||u||^2 ||v||^2
  double S;     // E |<u, v>|^2
  double R;     // E <u, v>^2
  double Q;     // E sum_k |u_k|^2 |v_k|^2
  double T;     // E sum_k u_k^2 conj(v_k)^2
  double U;     // E sum_k u_k^2 v_k^2
};

/// Of the rows themselves: S = R = s^2, Q = T = U.
PairMoments exact_pair(const PairSums& sums) noexcept;

/// Of the vectors [scale x, constant], [scale y, constant] (projection::FactorShape).
PairSums augmented(const PairSums& sums, double scale, double constant) noexcept;

/// Of the columns of a sketch whose factors have these moments. `padded` is the d of a TensorSRHT.
PairMoments sketch_moments(projection::Mixing mixing, bool complex, int64_t columns, int64_t padded,
                           std::span<const PairMoments> factors) noexcept;

/// Of the real vectors [Re u | Im u].
PairMoments as_real(const PairMoments& complex) noexcept;

/// Variance of Re <u, v>, and pseudo-variance E (<u, v> - mean)^2.
double real_variance(const PairMoments& moments) noexcept;
double pseudo_variance(const PairMoments& moments) noexcept;

}  // namespace mercer::moment
