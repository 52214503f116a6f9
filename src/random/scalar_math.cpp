// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Portable log, exp, sin/cos, tan and pow: argument reduction and Taylor series, the bodies shared
// with the filling loops in random/elementary.h. No libm, whose last place differs between systems.
#include "random/scalar_math.h"

#include <cmath>
#include <initializer_list>

#include "base/numbers.h"
#include "random/elementary.h"

namespace mercer::random {
namespace {

/// e^r - 1 - r for |r| <= 0.35: Taylor's series to r^13, error r^14/14! < 5e-18.
double exp_tail(double r) noexcept {
  double sum = 1.0 / 6227020800;
  for (const double c : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                         1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5}) {
    sum = sum * r + c;
  }
  return r * r * sum;
}

}  // namespace

double portable_log(double x) noexcept {
  if (!(x >= 0x1p-1022)) {
    if (x == 0.0) return -kInfinity;
    if (!(x > 0.0)) return kNaN;
    return elementary::log_normal_range(x * 0x1p54, -54);
  }
  if (x == kInfinity) return x;
  return elementary::log_normal_range(x, 0);
}

double portable_exp(double x) noexcept {
  if (!(x <= 709.79)) return x != x ? x : kInfinity;
  if (x < -745.2) return 0.0;
  const double n = elementary::nearest_integer(x * 0x1.71547652b82fep0);  // 1 / ln 2
  const double high = x - n * elementary::kLn2High;                       // exact
  const double low = n * elementary::kLn2Low;
  const double r = high - low;
  const double lost = (high - r) - low;
  const double mantissa = 1.0 + (r + (exp_tail(r) + lost));
  // Two factors, each a normal number: their product may overflow or be subnormal, rounded once.
  const auto k = static_cast<int64_t>(n);
  return mantissa * elementary::power_of_two(k / 2) * elementary::power_of_two(k - k / 2);
}

SinCos portable_sincos_turns(double turns) noexcept {
  // From 2^52 on every double is a whole number of turns; 0 x infinity makes the NaN.
  if (!(turns < 0x1p52 && turns > -0x1p52)) return {0.0 * turns, 1.0 + 0.0 * turns};
  return elementary::sincos_within_turn(turns - static_cast<double>(static_cast<int64_t>(turns)));
}

double portable_tan_half_turns(double u) noexcept {
  const SinCos at = elementary::sincos_within_turn(0.5 * u);
  return at.sin / at.cos;
}

double portable_pow(double x, double y) noexcept { return portable_exp(y * portable_log(x)); }

}  // namespace mercer::random
