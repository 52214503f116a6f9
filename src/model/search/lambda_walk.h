// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Walks lambda downhill, one factorisation per step: for systems too large to try a whole grid.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace mercer::model {

/// Below the first a single-precision feature's rounding, 1e-7 squared, is larger than lambda.
inline constexpr double kLeastLambda = 1e-13;
inline constexpr double kMostLambda = 10.0;

/// Which lambdas a fit is judged at.
struct LambdaPlan {
  std::vector<double> grid;  // these, or if empty a walk
  double start = 1e-6;       // of the walk
  double factor = 10;
  int64_t most = 5;
  double least = kLeastLambda;  // of the walk; its largest is kMostLambda
};

/// Evaluates start, then start/factor, start/factor^2, ... while the loss falls; if the first step
/// did not lower it, the other way. At most `most` evaluations. A loss of NaN is larger than all;
/// infinity says that there is no fit: where there is none at the start, the walk starts at the
/// first of 100 start, 100^2 start, ... that has one.
void walk_lambda(const LambdaPlan& plan, const std::function<double(double lambda)>& loss);

}  // namespace mercer::model
