// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A downhill walk in lambda, one factorisation per step, for systems too large for a whole grid.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace mercer::model {

/// The squared rounding error of single-precision features is about 1e-14.
inline constexpr double kLeastLambda = 1e-13;
inline constexpr double kMostLambda = 10.0;

/// The lambdas at which a fit is judged.
struct LambdaPlan {
  std::vector<double> grid;  // empty: a walk, in multiples of `unit`
  double unit = 1;
  double start = 1e-6;  // of the walk
  double factor = 10;
  int64_t most = 5;
  double least = kLeastLambda;  // of the walk; the largest is kMostLambda
};

/// Evaluates unit times start, then start/factor, start/factor^2, ... while the loss falls; if the first step
/// does not lower it, the other way. At most `most` evaluations. NaN is larger than any loss;
/// infinity means that there is no fit: if so at the start, the walk starts at the first of 100
/// start, 100^2 start, ... that has one.
void walk_lambda(const LambdaPlan& plan, const std::function<double(double lambda)>& loss);

}  // namespace mercer::model
