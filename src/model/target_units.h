// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Targets in units that outliers do not move: (y - median) / scale, scale = 1.4826 times the median
// distance from the median (the standard deviation of normal numbers), or the mean distance where
// that is 0, 1 where both are.
#pragma once

#include <memory>
#include <vector>

#include "solver/block_source.h"
#include "solver/ridge.h"

namespace mercer::model {

/// The median of numbers, 0 of none; they are reordered.
double median(std::vector<double>& numbers);
/// 1.4826 times the median of |numbers|; they change.
double robust_scale(std::vector<double>& numbers);

struct TargetUnits {
  std::vector<double> median, scale;  // per output

  /// Weights of predictions in units, as weights of predictions of y.
  void undo(solver::Weights& weights) const;
};

/// One pass over the rows that weigh anything. Of several processes, the means of theirs.
TargetUnits robust_units(const solver::BlockSource& rows, Context& context);

/// The rows with their targets in units; both are referred to.
std::unique_ptr<solver::BlockSource> in_units(const solver::BlockSource& rows,
                                              const TargetUnits& units);

}  // namespace mercer::model
