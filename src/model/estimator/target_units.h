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

/// A number of weight > 0: one of weight 2 is two equal numbers of weight 1.
struct Weighed {
  double value, weight;
};
/// The median of numbers, half of whose weight lies on either side; 0 of none. They are reordered.
double median(std::vector<Weighed>& numbers);
/// 1.4826 times the median of |numbers|; they change.
double robust_scale(std::vector<Weighed>& numbers);

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
