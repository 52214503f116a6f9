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

SearchTrial::SearchTrial(const solver::BlockSource& rows, const FitOptions& options, RowSet train,
                         Context& context, const solver::RowsDone& done)
    : rows_(rows), task_(options.task), center_(options.center) {
  const auto part = rows.subset(train);
  if (train.count < rows.features()) {
    path_ = solver::make_dual_path(solver::make_dual_system(*part, center_, context, done));
    return;
  }
  statistics_ = std::make_unique<solver::RowStatistics>(rows.features(), rows.outputs(), context);
  solver::add_blocks(*part, *statistics_, context, done);
  path_ = solver::make_cholesky_path(*statistics_, center_);
}

std::vector<LambdaPoint> SearchTrial::run(const LambdaPlan& plan, RowSet held_out,
                                          Context& context) const {
  const auto part = rows_.subset(held_out);
  const auto evaluate = [&](double lambda) {
    context.checkpoint();
    const solver::Weights weights = path_->solve(lambda, context);
    return merit_of(score_rows(*part, task_, std::span(&weights, 1), context)[0], task_);
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
  const auto scores = score_rows(*part, task_, weights, context);
  for (size_t k = 0; k < points.size(); ++k) points[k].merit = merit_of(scores[k], task_);
  return points;
}

solver::Weights SearchTrial::solve_with(RowSet held_out, double lambda, Context& context) {
  path_.reset();
  if (statistics_ == nullptr)
    return solver::make_dual_system(rows_, center_, context).solve(lambda, context);
  solver::add_blocks(*rows_.subset(held_out), *statistics_, context);
  return solver::ridge_cholesky(std::move(*statistics_), center_, lambda, context);
}

}  // namespace mercer::model
