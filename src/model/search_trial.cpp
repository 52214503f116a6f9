// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Trials by Cholesky: for the few lambdas a trial looks at, factors of a kept Gram matrix cost less
// time and memory than its eigendecomposition (at D = 4096 about thirty factors), and the Gram
// matrix survives for the final fit.
#include "model/search_trial.h"

#include <cmath>

namespace mercer::model {
namespace {

/// kMostLambda down to 1e-12 by decades.
constexpr int64_t kDecades = 14;

}  // namespace

SearchTrial::SearchTrial(const FeatureRows& rows, RowSet train, Context& context,
                         const RowsDone& done)
    : rows_(rows) {
  if (train.count < rows.features()) {
    path_ = make_dual_path(make_dual_system(rows, train, context, done));
    return;
  }
  statistics_ = std::make_unique<solver::RowStatistics>(rows.features(), rows.outputs());
  rows.add_to(*statistics_, train, context, done);
  path_ = make_cholesky_path(*statistics_, rows.options().center);
}

std::vector<LambdaPoint> SearchTrial::run(const LambdaPlan& plan, RowSet held_out,
                                          Context& context) const {
  const Task task = rows_.options().task;
  const auto evaluate = [&](double lambda) {
    context.checkpoint();
    const solver::Weights weights = path_->solve(lambda, context);
    return merit_of(score_rows(rows_, held_out, std::span(&weights, 1), context)[0], task);
  };
  if (plan.fixed >= 0) return {{plan.fixed, evaluate(plan.fixed)}};
  if (!plan.whole_grid) return walk_lambda(plan.start, plan.factor, plan.most, evaluate);

  std::vector<LambdaPoint> points;
  std::vector<solver::Weights> weights;
  for (const double lambda : solver::lambda_grid(kMostLambda, 1e-12, kDecades)) {
    context.checkpoint();
    points.push_back({lambda, {}});
    weights.push_back(path_->solve(lambda, context));
  }
  const auto scores = score_rows(rows_, held_out, weights, context);
  for (size_t k = 0; k < points.size(); ++k) points[k].merit = merit_of(scores[k], task);
  return points;
}

solver::Weights SearchTrial::solve_with(RowSet held_out, RowSet all, double lambda,
                                        Context& context) {
  path_.reset();
  if (statistics_ == nullptr) return make_dual_system(rows_, all, context).solve(lambda, context);
  rows_.add_to(*statistics_, held_out, context);
  return solver::ridge_cholesky(std::move(*statistics_), rows_.options().center, lambda, context);
}

}  // namespace mercer::model
