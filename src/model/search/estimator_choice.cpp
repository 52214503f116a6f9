// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses between least squares and logistic regression on the features of the chosen map, by the
// log loss of held-out rows, both calibrated. Ridge is kept if it is better by more than the
// standard error of the paired difference; few rows do not tell good fits apart, and log loss is
// what logistic regression minimises.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/numbers.h"
#include "model/estimator/class_weights.h"
#include "model/search/search_run.h"
#include "model/select/judge.h"
#include "solver/block_source.h"
#include "solver/loss_fit.h"

namespace mercer::model {
namespace {

// Lambdas relative to ridge's, largest first: the loss's second derivative is p (1 - p) instead of
// ridge's 1, less if classes are well separated.
constexpr double kRatios[] = {1, 1e-1, 1e-2, 1e-3};
constexpr double kLeastLogisticLambda = 1e-10;
constexpr solver::LossFitOptions kTrialFit{.tolerance = 1e-3, .most_iterations = 60};
constexpr solver::LossFitOptions kLastFit{.tolerance = 1e-7, .most_iterations = 60};

// The budget of `automatic`: the flops of this many passes and a preconditioner per lambda may be
// at most this share of those of Z'Z, or a few seconds of a core. (26 classes at D = 4,096 took
// five times as long as ridge.) With fewer rows than features the fit is cheaper than that, but on
// four data sets of 200 and 900 rows it won nothing, and took a third more time.
constexpr double kLogisticPasses = 60;
constexpr double kMostShare = 0.5;
constexpr double kFewFlops = 1e11;

bool is_affordable(const solver::BlockSource& rows, size_t splits, const Context& context) {
  if (rows.kernel_columns()) return false;               // only least squares
  if (!solver::fits_cache(rows, context)) return false;  // every pass would recompute features
  const auto n = static_cast<double>(rows.rows()), D = static_cast<double>(rows.features());
  const double columns = rows.outputs() == 2 ? 1 : static_cast<double>(rows.outputs());
  const double factors = std::size(kRatios) * D * D * D / 3;
  const double flops =
      (kLogisticPasses * 4 * n * D * columns + factors) * static_cast<double>(splits);
  return flops <= std::max(kFewFlops, kMostShare * n * D * D);
}

/// Held-out scores pooled over splits, and a starting point for a fit on all rows.
struct PooledScores {
  double lambda = 0;
  std::vector<ScoredRows> parts;
  std::vector<double> x;
};

struct ClassifierLoss {
  Calibration calibration;
  double loss = 0;
  double error_rate = 0;
  std::vector<double> losses, weights;  // of each row
};

/// Whether b is worse than a by more than the standard error of their mean difference.
bool is_clearly_better(const solver::BlockSource& rows, const ClassifierLoss& a,
                       const ClassifierLoss& b) {
  PairedLosses paired(2);
  for (size_t i = 0; i < a.losses.size(); ++i) {
    const double losses[] = {a.losses[i], b.losses[i]};
    paired.add(losses, a.weights[i]);
  }
  paired.reduce(rows);
  return paired.mean(1) - paired.mean(0) > paired.error_of_difference(0, 1);
}

ClassifierLoss judge(const std::vector<ScoredRows>& parts, Prior prior, Context& context) {
  const ScoredRows all = joined(parts, context);
  ClassifierLoss judged;
  judged.calibration = fit_calibration(all, context, prior);
  judged.error_rate = error_rate(all);
  judged.losses = log_losses(all, judged.calibration);
  judged.weights = all.weights;
  judged.loss = weighted_mean(judged.losses, judged.weights, all.reduction);
  return judged;
}

ClassifierLoss judge_ridge(const solver::BlockSource& rows, std::span<const Split> splits,
                           const RidgeResult& ridge, Context& context) {
  std::vector<ScoredRows> parts;
  for (const Split& split : splits)
    parts.push_back(score_all(*rows.subset(split.held_out), ridge.part(split), context));
  return judge(parts, Prior::none, context);
}

solver::LossOptions logistic_loss(bool center, const std::vector<double>& class_factors) {
  solver::LossOptions loss;
  loss.class_weights = class_factors;
  loss.loss = solver::find_loss("logistic");
  loss.center = center;
  return loss;
}

/// Fits the lambdas on every split, each from the fit before; on the first one until its loss
/// rises. None if that is not below `most` there and more splits follow.
std::vector<PooledScores> try_logistic(const solver::BlockSource& features, bool center,
                                       std::span<const Split> splits, const RidgeResult& ridge,
                                       double most, Context& context) {
  const solver::RowSpace space(features, context);
  const solver::BlockSource& rows = space.rows();
  std::vector<PooledScores> tried;
  for (const double ratio : kRatios) {
    tried.push_back({std::max(ratio * ridge.lambda, kLeastLogisticLambda * ridge.unit), {}, {}});
    if (!ridge.given) continue;
    tried.back().lambda = ridge.lambda;
    break;
  }
  for (const Split& split : splits) {
    const auto train = rows.subset(split.train), held_out = rows.subset(split.held_out);
    solver::LossFit fit(*train, logistic_loss(center, ridge.class_factors), context,
                        space.reduces() ? nullptr : ridge.statistics);
    const bool first = &split == splits.data();
    double least = kInfinity;
    for (size_t k = 0; k < tried.size(); ++k) {
      PooledScores& one = tried[k];
      fit.run(one.lambda, kTrialFit, context);
      one.parts.push_back(score_all(*held_out, fit.weights(), context));
      if (!space.reduces()) one.x.assign(fit.x().begin(), fit.x().end());
      if (!first) continue;
      const double loss = judge(one.parts, Prior::softmax, context).loss;
      if (!(loss < least)) tried.resize(k + 1);
      least = std::min(least, loss);
    }
    if (first && splits.size() > 1 && !(least < most)) return {};
  }
  return tried;
}

}  // namespace

bool tries_logistic(const solver::BlockSource& rows, Estimator asked, size_t splits,
                    const Context& context) {
  return asked == Estimator::logistic ||
         (asked == Estimator::automatic && is_affordable(rows, splits, context));
}

EstimatorChoice choose_estimator(const solver::BlockSource& rows,
                                 const EstimatorOptions& ridge_asked, Estimator asked,
                                 std::span<const Split> splits, const RidgeResult& ridge,
                                 Context& context) {
  EstimatorChoice choice;
  choice.estimating = ridge_asked;
  choice.lambda = ridge.lambda;
  choice.class_factors = ridge.class_factors;
  choice.ridge_loss = choice.logistic_loss = kNaN;
  ClassifierLoss ridge_judged, least;
  if (asked != Estimator::logistic) {
    ridge_judged = judge_ridge(rows, splits, ridge, context);
    choice.ridge_loss = ridge_judged.loss;
  }
  if (tries_logistic(rows, asked, splits.size(), context)) {
    const double most = asked == Estimator::automatic && splits.size() > 1
                            ? judge_ridge(rows, splits.first(1), ridge, context).loss
                            : kInfinity;
    for (PooledScores& one : try_logistic(rows, ridge_asked.center, splits, ridge, most, context)) {
      ClassifierLoss judged = judge(one.parts, Prior::softmax, context);
      choice.path.push_back({one.lambda, judged.loss});
      if (!(judged.loss < choice.logistic_loss) && !std::isnan(choice.logistic_loss)) continue;
      choice.logistic_loss = judged.loss;
      least = std::move(judged);
      choice.lambda = one.lambda;
      choice.start = std::move(one.x);
    }
  }
  choice.keeps_logistic = !choice.path.empty() && (asked != Estimator::automatic ||
                                                   !is_clearly_better(rows, ridge_judged, least));
  ClassifierLoss& kept = choice.keeps_logistic ? least : ridge_judged;
  choice.calibration = std::move(kept.calibration);
  choice.error_rate = kept.error_rate;
  if (!choice.keeps_logistic) {
    choice.lambda = ridge.lambda;
  } else {
    choice.estimating.entry = &logistic_model();
    choice.estimating.parameters = default_parameters(logistic_model());
    if (is_balanced(ridge_asked.parameters))
      kClassWeight.write(choice.estimating.parameters, ClassWeight::balanced);
  }
  return choice;
}

solver::Weights fit_logistic(const solver::BlockSource& rows,
                             const solver::RowStatistics* statistics, EstimatorChoice& choice,
                             Context& context) {
  const solver::RowSpace space(rows, context);
  solver::LossFit fit(space.rows(), logistic_loss(choice.estimating.center, choice.class_factors),
                      context, space.reduces() ? nullptr : statistics);
  if (!space.reduces() && !choice.start.empty()) fit.start_from(choice.start);
  fit.run(choice.lambda, kLastFit, context);
  choice.start.clear();
  if (!space.reduces()) choice.start.assign(fit.x().begin(), fit.x().end());
  return space.weights(fit.weights(), context);
}

}  // namespace mercer::model
