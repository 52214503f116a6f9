// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses between least squares and logistic regression on the features of the chosen map, by the
// log loss of held-out rows, both calibrated. Ridge is kept if it is better by more than the
// standard error of the paired difference; few rows do not tell good fits apart, and log loss is
// what logistic regression minimises.
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

/// The ridge fit when the choice begins. References are kept.
struct RidgeResult {
  double lambda = 0;
  /// Coefficients at lambda of a fit to the split's training rows.
  std::function<solver::Weights(const Split& split)> part;
  /// Statistics of similar rows, for a preconditioner; null: to be summed.
  const solver::RowStatistics* statistics = nullptr;
  bool given = false;                      // lambda is given, for logistic regression too
  double unit = 1;                         // of lambda (lambda_unit)
  std::vector<double> class_factors = {};  // of the row weights in logistic regression
};

struct EstimatorChoice {
  EstimatorOptions estimating;  // the options, with the estimator that is kept
  bool keeps_logistic = false;
  double lambda = 0;
  Calibration calibration;
  std::vector<PathPoint> path;  // logistic regression: log loss of held-out rows
  double ridge_loss = 0;        // log loss of held-out rows; NaN: ridge was not asked for
  double logistic_loss = 0;     // NaN: not tried, or given up after the first split
  double error_rate = 0;        // of the kept estimator on held-out rows
  std::vector<double> start;    // logistic regression: x of a fit to a part, if it is of features
  std::vector<double> class_factors;
};

/// Whether choose_estimator tries logistic regression with so many splits.
bool tries_logistic(const solver::BlockSource& rows, Estimator asked, size_t splits,
                    const Context& context);

/// For classification. splits: one, or folds, whose held-out rows are pooled. Logistic regression
/// is tried at lambdas from ridge.lambda down, as long as the loss of the first split falls.
/// `automatic` leaves it out if it would cost more than the row statistics of ridge, or if features
/// do not fit the cache, and gives it up if on the first of several splits its log loss is not below
/// ridge's.
EstimatorChoice choose_estimator(const solver::BlockSource& rows,
                                 const EstimatorOptions& ridge_asked, Estimator asked,
                                 std::span<const Split> splits, const RidgeResult& ridge,
                                 Context& context);

/// Logistic regression at the choice's lambda, from its start, which is replaced by the solution.
solver::Weights fit_logistic(const solver::BlockSource& rows,
                             const solver::RowStatistics* statistics, EstimatorChoice& choice,
                             Context& context);

}  // namespace mercer::model
