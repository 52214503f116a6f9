// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Marginal transforms: monotone functions that remove the skew of a column.
#pragma once

#include <cstdint>
#include <vector>

#include "model/prepare/column_sample.h"

namespace mercer::model {

enum class Transform { none, log, rank };

/// none: x. log: sign(x) log(1 + |x|/s), knots {s}, s > 0. rank: the normal quantile of x's rank,
/// interpolated between kRankKnots quantiles of the training rows at (k + 1/2)/kRankKnots and
/// constant beyond; equal knots map to their middle.
struct Curve {
  Transform kind = Transform::none;
  std::vector<double> knots;

  double operator()(double x) const noexcept;
  /// The inverse function: a mean of transformed numbers becomes about a median.
  double inverse(double t) const noexcept;
};

inline constexpr size_t kRankKnots = 256;

/// Fits a curve to a column. log: s is the median of |x| over non-zeros, none if all are 0.
Curve make_curve(Transform kind, const SortedColumn& column);
/// |skewness| > 1: mean cubed deviation over the cube of the standard deviation.
bool is_skewed(const SortedColumn& column);

/// The number of knots of this kind of curve.
size_t knot_count(Transform kind) noexcept;
/// INVALID_ARGUMENT unless there are knot_count(kind) knots, finite, ascending, s > 0.
void check_curve(const Curve& curve, const char* what);

}  // namespace mercer::model
