// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Least squares or logistic regression on the features of a map that was chosen: the one with the
// lower log loss on rows that it was not fitted on, once both are calibrated.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "model/model_entry.h"
#include "model/row_sets.h"
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
};

struct EstimatorChoice {
  const ModelEntry* model = nullptr;
  Parameters parameters;  // of the model
  Learned learned;        // predictor: null for ridge, whose weights the caller has
  double ridge_loss = 0;  // log loss on rows not fitted on; NaN: not asked
  double logistic_loss = 0;
};

/// rows: of a classification. splits: one, or folds, whose held-out rows are pooled. Logistic
/// regression is tried at lambdas about c ridge.lambda, c a typical p (1 - p), and fitted once more
/// on all rows if it is kept. `automatic` leaves it out where it would cost more than a few times
/// what the sums of ridge do. Both have a calibration.
EstimatorChoice choose_estimator(const solver::BlockSource& rows, const FitOptions& options,
                                 Estimator asked, std::span<const Split> splits,
                                 const RidgeResult& ridge, Context& context);

}  // namespace mercer::model
