// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How well weights predict rows that were not fitted on.
#pragma once

#include <span>
#include <vector>

#include "model/prepare/coding.h"
#include "solver/block_source.h"
#include "solver/ridge.h"

namespace mercer::model {

struct HeldOutScore {
  double weight = 0;         // of the rows: their number where they have none
  double squared_error = 0;  // mean over rows, summed over outputs (one-hot codes of classes)
  double error_rate = 0;     // classification only; NaN scores count as wrong

  /// What selection minimises and reports.
  double criterion(Task task) const {
    return task == Task::classification ? error_rate : squared_error;
  }
};

/// One score per set of weights, in one pass over the rows: their features are computed once. Means
/// count each row by its weight, and all processes' rows. Weights must not be empty.
std::vector<HeldOutScore> score_rows(const solver::BlockSource& rows, Task task,
                                     std::span<const solver::Weights> weights, Context& context);

}  // namespace mercer::model
