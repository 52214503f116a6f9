// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Monotone curves that take the skew out of a column.
#pragma once

#include <cstdint>
#include <vector>

#include "model/prepare/column_sample.h"

namespace mercer::model {

enum class Transform { none, log, rank };

/// none: x. log: sign(x) log(1 + |x|/s), knots {s}, s > 0. rank: x's normal quantile, linear
/// between kRankKnots quantiles of the training rows at (k + 1/2)/kRankKnots, constant beyond them;
/// a number that several of them share lies in their middle.
struct Curve {
  Transform kind = Transform::none;
  std::vector<double> knots;

  double operator()(double x) const noexcept;
  /// The x that operator() takes to t: plainly, so that a transformed mean comes back as about a
  /// median.
  double inverse(double t) const noexcept;
};

inline constexpr size_t kRankKnots = 256;

/// Of a column: s is the median of |x| over the numbers that are not 0; none where all are 0.
Curve make_curve(Transform kind, const SortedColumn& column);
/// |skewness| > 1: mean cubed deviation over the cube of the standard deviation.
bool is_skewed(const SortedColumn& column);

/// Numbers that a curve of this kind has.
size_t knot_count(Transform kind) noexcept;
/// INVALID_ARGUMENT unless the knots are as many as the kind has, finite, ascending, s > 0.
void check_curve(const Curve& curve, const char* what);

}  // namespace mercer::model
