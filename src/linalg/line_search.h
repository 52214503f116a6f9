// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A step along a ray with sufficient decrease and curvature, for descent methods.
#pragma once

#include <cstdint>
#include <functional>

namespace mercer::linalg {

/// phi(step) = f(x + step p) and its derivative p'grad f there.
struct RayPoint {
  double step = 0, value = 0, slope = 0;
};

struct LineSearchOptions {
  double first_step = 1;
  double noise = 1e-14;  // relative error of the values of phi
  int64_t most_evaluations = 40;
};

/// A step that meets the strong Wolfe conditions phi(t) <= phi(0) + c1 t phi'(0) and
/// |phi'(t)| <= c2 |phi'(0)|, c1 = 1e-4, c2 = 0.9; where phi(t) and phi(0) differ by rounding only,
/// the first is replaced by a condition on the slope, phi'(t) <= (2 c1 - 1) phi'(0). A point that
/// is not finite counts as too far. The last call of phi is the point returned; its step is 0 if no
/// decrease was found. start: step 0, slope < 0.
RayPoint wolfe_step(const std::function<RayPoint(double step)>& phi, const RayPoint& start,
                    const LineSearchOptions& options);

}  // namespace mercer::linalg
