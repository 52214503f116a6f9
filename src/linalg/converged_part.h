// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How far iterations have come: those that converge linearly move evenly in the logarithm.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mercer::linalg {

/// The part of the way from `first` down to `goal` that lies behind `now`, in [0, 1]. Goals below
/// eps first, which rounding keeps away, count as that.
inline double converged_part(double now, double first, double goal) noexcept {
  const double reachable = std::max(goal, kEpsilon * first);
  if (!(first > reachable && now < first)) return 0;
  return now <= reachable ? 1 : std::log(now / first) / std::log(reachable / first);
}

/// Iterations of at most so many.
inline double spent_part(double spent, double most) noexcept { return most > 0 ? spent / most : 0; }

}  // namespace mercer::linalg
