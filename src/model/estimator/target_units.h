// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Robust units of targets: (y - median) / scale, with scale 1.4826 times the median absolute
// deviation (the standard deviation of normal numbers), or if that is 0 the mean absolute
// deviation, or 1.
#pragma once

#include <memory>
#include <vector>

#include "solver/block_source.h"
#include "solver/ridge_system.h"

namespace mercer::model {

/// A number of weight > 0; weight 2 stands for two equal numbers.
struct WeightedNumber {
  double value, weight;
};
/// The weighted median; 0 without numbers. Reorders them.
double median(std::vector<WeightedNumber>& numbers);
/// 1.4826 times the median of |numbers|. Changes them.
double robust_scale(std::vector<WeightedNumber>& numbers);

struct TargetUnits {
  std::vector<double> median, scale;  // per output

  /// Converts coefficients for targets in units to coefficients for y.
  void undo(solver::Weights& weights) const;
};

/// One pass over the rows of positive weight; about 0 unless `center`. With several processes, the
/// means of their units.
TargetUnits robust_units(const solver::BlockSource& rows, bool center, Context& context);

/// The rows with their targets in units; both are referred to.
std::unique_ptr<solver::BlockSource> in_units(const solver::BlockSource& rows,
                                              const TargetUnits& units);

}  // namespace mercer::model
