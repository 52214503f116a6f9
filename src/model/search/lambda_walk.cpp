// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A line search by comparison over log lambda: the loss is nearly unimodal there.
#include "model/search/lambda_walk.h"

#include <algorithm>
#include <cmath>

namespace mercer::model {
namespace {

constexpr double kFarther = 100;  // step while there is no fit

}  // namespace

void walk_lambda(const LambdaPlan& plan, const std::function<double(double lambda)>& loss_at) {
  const auto loss = [&](double multiple) { return loss_at(plan.unit * multiple); };
  double start = std::clamp(plan.start, plan.least, kMostLambda);
  double first = loss(start);
  while (std::isinf(first) && start < kMostLambda) {
    start = std::min(kFarther * start, kMostLambda);
    first = loss(start);
  }
  int64_t left = plan.most - 1;
  for (const double step : {1.0 / plan.factor, plan.factor}) {
    double best = first, at = start;
    for (; left > 0; --left) {
      const double lambda = at * step;
      if (lambda < plan.least || lambda > kMostLambda) break;
      const double next = loss(lambda);
      if (!(next < best || (std::isnan(best) && !std::isnan(next)))) {
        --left;
        break;
      }
      best = next;
      at = lambda;
    }
    if (at != start) break;
  }
}

}  // namespace mercer::model
