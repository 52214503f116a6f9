// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// log |Gamma(a)| that many threads may ask for: std::lgamma writes the global signgam. Not for what
// decides parameters (random/gamma_quantile.h has the portable one).
#pragma once

#include <math.h>

namespace mercer {

inline double log_gamma(double a) noexcept {
  int sign = 0;
  return ::lgamma_r(a, &sign);
}

}  // namespace mercer
