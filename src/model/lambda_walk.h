// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Walks lambda downhill on held-out rows, one factorisation per step: for systems too large to try
// a whole grid.
#pragma once

#include <functional>
#include <vector>

#include "model/held_out_score.h"
#include "model/model.h"

namespace mercer::model {

/// What is reported and what is compared.
struct Merit {
  double score = 0;     // 1 - R^2, NaN where that is not defined, or the error rate
  double compared = 0;  // 1 - R^2 or the squared error, or the soft error; NaN never wins
};
Merit merit_of(const HeldOutScore& score, Task task);
bool is_better(const Merit& a, const Merit& b);

struct LambdaPoint {
  double lambda;
  Merit merit;
};

/// Evaluates start, then start/factor, start/factor^2, ... while that is better; if the first step
/// was not, the other way. At most `most` evaluations, lambda kept within [kLeastLambda,
/// kMostLambda]. Every point in the order of evaluation.
std::vector<LambdaPoint> walk_lambda(double start, double factor, int64_t most,
                                     const std::function<Merit(double lambda)>& evaluate);
const LambdaPoint& best_of(const std::vector<LambdaPoint>& points);
/// The largest lambda that is nearly the best, within half a percent: where a grid ends in a
/// plateau, its far end is noise and no place to start a walk from.
const LambdaPoint& largest_near_best(const std::vector<LambdaPoint>& points);

/// Below the first a single-precision feature's rounding, 1e-7 squared, is larger than lambda.
inline constexpr double kLeastLambda = 1e-13;
inline constexpr double kMostLambda = 10.0;

}  // namespace mercer::model
