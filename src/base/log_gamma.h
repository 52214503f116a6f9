// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Thread-safe log |Gamma(a)|: std::lgamma writes the global signgam. Not for values that decide
// parameters (random/gamma_quantile.h has a portable one).
#pragma once

#include <math.h>

namespace mercer {

inline double log_gamma(double a) noexcept {
  int sign = 0;
  return ::lgamma_r(a, &sign);
}

}  // namespace mercer
