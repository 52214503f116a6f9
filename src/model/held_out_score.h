// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How well weights predict rows that were not fitted on.
#pragma once

#include <span>
#include <vector>

#include "model/feature_rows.h"
#include "solver/ridge.h"

namespace mercer::model {

struct HeldOutScore {
  double squared_error = 0;  // mean over rows, summed over outputs (one-hot codes for classification)
  double unexplained = 0;    // mean over outputs of mean squared error / variance on these rows: 1 - R^2
  double error_rate = 0;     // classification only: largest score is not the class; NaN scores count as wrong

  /// What selection minimises and reports: the error rate for classification, else the squared error.
  double criterion(Task task) const {
    return task == Task::classification ? error_rate : squared_error;
  }
};

/// One score per set of weights, in one pass over the rows: their features are computed once. Weights must not be empty.
template <class T>
std::vector<HeldOutScore> score_rows(const FeatureRows<T>& rows, RowSet set,
                                     std::span<const solver::Weights> weights, Context& context);

}  // namespace mercer::model
