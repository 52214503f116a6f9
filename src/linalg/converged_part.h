// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Progress of iterations: linear convergence is uniform in the logarithm of the residual.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/numbers.h"

namespace mercer::linalg {

/// Share in [0, 1] of the way from `first` down to `goal` done at `now`, in logarithms. Goals below
/// eps first count as eps first, since rounding keeps them out of reach.
inline double converged_part(double now, double first, double goal) noexcept {
  const double reachable = std::max(goal, kEpsilon * first);
  if (!(first > reachable && now < first)) return 0;
  return now <= reachable ? 1 : std::log(now / first) / std::log(reachable / first);
}

/// Share of the allowed iterations that are spent.
inline double spent_part(double spent, double most) noexcept { return most > 0 ? spent / most : 0; }

}  // namespace mercer::linalg
