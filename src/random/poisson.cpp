// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Poisson variates by inversion: sums the terms exp(-mean) mean^k / k! until they reach u.
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::random {

double poisson_quantile(double u, double mean) noexcept {
  double term = portable_exp(-mean);
  double sum = term, k = 0;
  // Past the mean terms fall: once they no longer change the sum, u is beyond double precision.
  while (sum < u && (k <= mean || sum + term != sum)) {
    k += 1;
    term *= mean / k;
    sum += term;
  }
  return k;
}

}  // namespace mercer::random
