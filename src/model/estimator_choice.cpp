// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/estimator_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/held_out_rows.h"
#include "solver/loss_fit.h"

namespace mercer::model {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Relative to ridge's lambda, largest first: the second derivative of the loss is p (1 - p) for
// ridge's 1, less where classes are told apart well.
constexpr double kRatios[] = {1, 1e-1, 1e-2, 1e-3};
constexpr double kLeastLogisticLambda = 1e-10;
constexpr solver::LossFitOptions kTrialFit{
    .gradient_tolerance = 1e-3, .decrease_tolerance = 1e-4, .most_iterations = 60};
constexpr solver::LossFitOptions kLastFit{
    .gradient_tolerance = 1e-4, .decrease_tolerance = 1e-5, .most_iterations = 200};

// What automatic allows: flops of about that many passes at most this many times those of Z'Z, or a
// few seconds of a core.
constexpr double kPasses = 60;
constexpr double kMostShare = 4;
constexpr double kFewFlops = 1e11;

bool is_affordable(const solver::BlockSource& rows) {
  const auto n = static_cast<double>(rows.rows()), D = static_cast<double>(rows.features());
  const double columns = rows.outputs() == 2 ? 1 : static_cast<double>(rows.outputs());
  const double flops = kPasses * 4 * n * D * columns;
  return flops <= std::max(kFewFlops, kMostShare * n * D * D);
}

/// Scores of rows not fitted on, pooled over splits, and where a fit on all rows may begin.
struct Pooled {
  double lambda = 0;
  std::vector<ScoredRows> parts;
  std::vector<double> x;
};

struct Judged {
  Calibration calibration;
  double loss = 0;
};

Judged judge(const std::vector<ScoredRows>& parts, Context& context) {
  const ScoredRows all = joined(parts, context);
  Judged judged{fit_calibration(all, context), 0};
  judged.loss = log_loss(all, judged.calibration);
  return judged;
}

Judged judge_ridge(const solver::BlockSource& rows, std::span<const Split> splits,
                   const RidgeResult& ridge, Context& context) {
  std::vector<ScoredRows> parts;
  for (const Split& split : splits)
    parts.push_back(score_all(*rows.subset(split.held_out), ridge.part(split), context));
  return judge(parts, context);
}

solver::LossOptions logistic_loss(const FitOptions& options) {
  solver::LossOptions loss;
  loss.loss = solver::find_loss("logistic");
  loss.center = options.center;
  return loss;
}

/// Every lambda on every split, each fit from the one before.
std::vector<Pooled> try_logistic(const solver::BlockSource& rows, const FitOptions& options,
                                 std::span<const Split> splits, const RidgeResult& ridge,
                                 Context& context) {
  std::vector<Pooled> tried;
  for (const double ratio : kRatios)
    tried.push_back({std::max(ratio * ridge.lambda, kLeastLogisticLambda), {}, {}});
  for (const Split& split : splits) {
    const auto train = rows.subset(split.train), held_out = rows.subset(split.held_out);
    solver::LossFit fit(*train, logistic_loss(options), context, ridge.statistics);
    for (Pooled& one : tried) {
      fit.run(one.lambda, kTrialFit, context);
      one.parts.push_back(score_all(*held_out, fit.weights(), context));
      one.x.assign(fit.x().begin(), fit.x().end());
    }
  }
  return tried;
}

Learned fit_all(const solver::BlockSource& rows, const FitOptions& options, const Pooled& chosen,
                const RidgeResult& ridge, Context& context) {
  solver::LossFit fit(rows, logistic_loss(options), context, ridge.statistics);
  fit.start_from(chosen.x);
  fit.run(chosen.lambda, kLastFit, context);
  return {make_linear(fit.weights()), chosen.lambda, {}, {}};
}

}  // namespace

EstimatorChoice choose_estimator(const solver::BlockSource& rows, const FitOptions& options,
                                 Estimator asked, std::span<const Split> splits,
                                 const RidgeResult& ridge, Context& context) {
  EstimatorChoice choice{&ridge_model(), {}, {nullptr, ridge.lambda, {}, {}}, kNaN, kNaN};
  if (asked != Estimator::logistic) {
    Judged judged = judge_ridge(rows, splits, ridge, context);
    choice.ridge_loss = judged.loss;
    choice.learned.calibration = std::move(judged.calibration);
  }
  if (asked == Estimator::ridge || (asked == Estimator::automatic && !is_affordable(rows)))
    return choice;
  const Pooled* best = nullptr;
  Judged least{{}, std::numeric_limits<double>::infinity()};
  const std::vector<Pooled> tried = try_logistic(rows, options, splits, ridge, context);
  std::vector<PathPoint> path;
  for (const Pooled& one : tried) {
    Judged judged = judge(one.parts, context);
    path.push_back({one.lambda, judged.loss});
    if (!(judged.loss < least.loss)) continue;
    least = std::move(judged);
    best = &one;
  }
  choice.logistic_loss = best == nullptr ? kNaN : least.loss;
  if (best == nullptr || least.loss >= choice.ridge_loss) return choice;
  choice.model = &logistic_model();
  choice.parameters = default_parameters(logistic_model());
  choice.learned = fit_all(rows, options, *best, ridge, context);
  choice.learned.path = std::move(path);
  choice.learned.calibration = std::move(least.calibration);
  return choice;
}

}  // namespace mercer::model
