// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A geometric grid of lambdas; both ends are exact.
#include <cmath>

#include "base/error.h"
#include "solver/ridge.h"

namespace mercer::solver {

std::vector<double> lambda_grid(double largest, double smallest, int64_t count) {
  require(count >= 1, MERCER_INVALID_ARGUMENT, "count = %ld, expected at least 1", count);
  require(std::isfinite(largest) && smallest > 0 && smallest <= largest, MERCER_INVALID_ARGUMENT,
          "lambdas from %g to %g, expected finite largest >= smallest > 0", largest, smallest);
  std::vector<double> grid(count, smallest);
  const double span = std::log(smallest) - std::log(largest);
  for (int64_t i = 0; i + 1 < count; ++i)
    grid[i] = std::exp(std::log(largest) +
                       span * static_cast<double>(i) / static_cast<double>(count - 1));
  grid[0] = largest;
  return grid;
}

}  // namespace mercer::solver
