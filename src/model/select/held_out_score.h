// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of held-out rows.
#pragma once

#include <span>
#include <vector>

#include "model/prepare/coding.h"
#include "solver/block_source.h"
#include "solver/ridge.h"

namespace mercer::model {

struct HeldOutScore {
  double weight = 0;         // sum of the row weights
  double squared_error = 0;  // mean over rows, summed over outputs (one-hot codes of classes)
  double error_rate = 0;     // classification only; NaN scores count as wrong

  /// The score that selection minimises and reports.
  double criterion(Task task) const {
    return task == Task::classification ? error_rate : squared_error;
  }
};

/// One score per set of coefficients, in one pass over the rows of all processes: features are
/// computed once. Means are weighted. weights must not be empty.
std::vector<HeldOutScore> score_rows(const solver::BlockSource& rows, Task task,
                                     std::span<const solver::Weights> weights, Context& context);

}  // namespace mercer::model
