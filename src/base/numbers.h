// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

#include <math.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"

namespace mercer {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
inline constexpr double kInversePi = 0.31830988618379067154;  // 1 / pi

/// INVALID_ARGUMENT naming the first number that is not finite.
inline void require_finite(std::span<const double> numbers, const char* what) {
  const auto bad = std::ranges::find_if(numbers, [](double x) { return !std::isfinite(x); });
  require(bad == numbers.end(), MERCER_INVALID_ARGUMENT, "%s[%ld] = %g, expected a finite number",
          what, bad - numbers.begin(), bad == numbers.end() ? 0.0 : *bad);
}

// Thread-safe log |Gamma(a)|: std::lgamma writes the global signgam. Not for values that decide
// parameters (random/scalar_math.h has a portable one).

inline double log_gamma(double a) noexcept {
  int sign = 0;
  return ::lgamma_r(a, &sign);
}

}  // namespace mercer
