// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A line search by comparison over log lambda: the held-out error is nearly unimodal there.
#include "model/lambda_walk.h"

#include <cmath>
#include <limits>

namespace mercer::model {

Merit merit_of(const HeldOutScore& score, Task task) {
  if (task == Task::classification) return {score.error_rate, score.soft_error};
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {score.varies ? score.unexplained : kNone, score.unexplained};
}

bool is_better(const Merit& a, const Merit& b) {
  return a.compared < b.compared || (std::isnan(b.compared) && !std::isnan(a.compared));
}

const LambdaPoint& best_of(const std::vector<LambdaPoint>& points) {
  size_t best = 0;
  for (size_t k = 1; k < points.size(); ++k) {
    if (is_better(points[k].merit, points[best].merit)) best = k;
  }
  return points[best];
}

const LambdaPoint& largest_near_best(const std::vector<LambdaPoint>& points) {
  constexpr double kNear = 1.005;
  const double limit = kNear * best_of(points).merit.compared;
  const LambdaPoint* result = &best_of(points);
  for (const LambdaPoint& point : points) {
    if (point.merit.compared <= limit && point.lambda > result->lambda) result = &point;
  }
  return *result;
}

std::vector<LambdaPoint> walk_lambda(double start, double factor, int64_t most,
                                     const std::function<Merit(double lambda)>& evaluate) {
  std::vector<LambdaPoint> points{{start, evaluate(start)}};
  for (const double step : {1.0 / factor, factor}) {
    LambdaPoint best = points[0];
    while (static_cast<int64_t>(points.size()) < most) {
      const double lambda = best.lambda * step;
      if (lambda < kLeastLambda || lambda > kMostLambda) break;
      points.push_back({lambda, evaluate(lambda)});
      if (!is_better(points.back().merit, best.merit)) break;
      best = points.back();
    }
    if (best.lambda != start) break;
  }
  return points;
}

}  // namespace mercer::model
