// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Least squares or logistic regression on the features of a map that was chosen, by log loss on
// rows that they were not fitted on, both calibrated: ridge is kept where it is better by more than
// the standard error of the paired difference, since few rows held out do not tell two good fits
// apart, and log loss is what logistic regression is made for.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/estimator/model_entry.h"
#include "model/rows/row_sets.h"
#include "solver/block_source.h"
#include "solver/row_statistics.h"

namespace mercer::model {

enum class Estimator { automatic, ridge, logistic };

/// What there is of ridge when the choice begins. References are kept.
struct RidgeResult {
  double lambda = 0;
  /// Weights at lambda of a fit on the split's training rows alone.
  std::function<solver::Weights(const Split& split)> part;
  /// Of rows like those of the source, for scaling; null: they are summed.
  const solver::RowStatistics* statistics = nullptr;
  bool given = false;  // lambda was: logistic regression takes it as well
  std::vector<double> class_factors =
      {};  // of the weights that logistic regression is to give rows
};

struct EstimatorChoice {
  Estimating estimating;  // as asked, but for the estimator that is kept
  bool keeps_logistic = false;
  double lambda = 0;
  Calibration calibration;
  std::vector<PathPoint> path;  // of logistic regression: log loss on rows not fitted on
  double ridge_loss = 0;        // the same of ridge; NaN: not asked
  double logistic_loss = 0;
  double error_rate = 0;      // of what is kept, on these rows
  std::vector<double> start;  // of logistic regression: x of a fit on a part, if it is of features
  std::vector<double> class_factors;
};

/// Whether logistic regression is among what choose_estimator tries, of so many splits.
bool tries_logistic(const solver::BlockSource& rows, Estimator asked, size_t splits,
                    const Context& context);

/// rows: of a classification. splits: one, or folds, whose held-out rows are pooled. Logistic
/// regression is tried at lambdas from ridge.lambda down. `automatic` leaves it out where it would
/// cost more than the sums of ridge do, or features do not fit the cache.
EstimatorChoice choose_estimator(const solver::BlockSource& rows, const Estimating& ridge_asked,
                                 Estimator asked, std::span<const Split> splits,
                                 const RidgeResult& ridge, Context& context);

/// Logistic regression at the choice's lambda, from its start, which becomes the x found.
solver::Weights fit_logistic(const solver::BlockSource& rows,
                             const solver::RowStatistics* statistics, EstimatorChoice& choice,
                             Context& context);

}  // namespace mercer::model
