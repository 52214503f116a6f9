// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elementary functions of the samplers, computed with + - x / sqrt only, so that a seed means the
// same bytes on every machine (libm differs between systems in the last place). Scalar, compiled
// with -ffp-contract=off.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace mercer::random {

/// ln x for x > 0 (normal or subnormal), error below 1 ulp; -inf at 0, NaN below.
double portable_log(double x) noexcept;

/// e^x, error below 2 ulp; 0 below -745.2, +inf above 709.78.
double portable_exp(double x) noexcept;

struct SinCos {
  double sin;
  double cos;
};

/// sin and cos of 2 pi u (u in turns, any finite value), absolute error below 2^-52.
SinCos portable_sincos_turns(double turns) noexcept;

/// x y/(2 pi) modulo 1, in units of 2^-64 of a turn, for any finite x and y whatever the size of
/// their product: its 106 bits times as many of those of 1/(2 pi) as reach below the point. Error:
/// below 2^-64 of a turn; sums of such numbers wrap around as angles do, exactly.
uint64_t portable_turns_of_product(double x, double y) noexcept;

/// tan(pi u) for u in (-1/2, 1/2), relative error below 2^-50.
double portable_tan_half_turns(double u) noexcept;

/// x^y for x > 0, as exp(y log x): relative error below 4 ulp times (1 + |y log x|).
double portable_pow(double x, double y) noexcept;

/// Inverse of the standard normal distribution function for p in (0, 1), relative error below 2e-15
/// (Wichura 1988, algorithm AS 241).
double normal_quantile(double p) noexcept;

}  // namespace mercer::random

namespace mercer::random::elementary {

// Bodies of the portable log and sin/cos, inline so that the filling loops keep several in flight.
// Only + - x / sqrt and bit moves, in a fixed order: the same bits wherever IEEE 754 double
// arithmetic rounds to nearest.

/// ln 2 = kLn2High + kLn2Low, the first with 20 trailing zero bits: k * kLn2High is exact for |k| <
/// 2^20.
inline constexpr double kLn2High = 0x1.62e42fefp-1;
inline constexpr double kLn2Low = 0x1.473de6af278edp-34;

/// 2^n for -1022 <= n <= 1023.
inline double power_of_two(int64_t n) noexcept {
  return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

/// The nearest integer (ties to even) for |x| < 2^51, as a double, by adding a number with unit
/// ulp.
inline double nearest_integer(double x) noexcept {
  constexpr double kShift = 0x1.8p52;
  return (x + kShift) - kShift;
}

/// ln x for a normal x > 0, plus `exponent` ln 2. With x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt
/// 2), and s = f / (2 + f):  ln(1 + f) = 2 atanh s = 2s + s R,  R = 2 (s^2/3 + s^4/5 + ...),  and
/// 2s = f - s f, s f = f^2/2 - s f^2/2, so ln(1 + f) = f - (f^2/2 - s (f^2/2 + R)): the leading
/// term is exact and the rest is small. |s| < 0.1716; cut after s^20, the series errs by 2 s^22 /
/// 23 < 1.3e-18 relative to 2, under 0.01 ulp of the result.
inline double log_normal_range(double x, int64_t exponent) noexcept {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const int64_t k = static_cast<int64_t>(bits - kSqrtHalf) >> 52;
  const double f = std::bit_cast<double>(bits - (static_cast<uint64_t>(k) << 52)) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s, w = z * z;
  const double even =
      w * (2.0 / 5 + w * (2.0 / 9 + w * (2.0 / 13 + w * (2.0 / 17 + w * (2.0 / 21)))));
  const double odd =
      z * (2.0 / 3 + w * (2.0 / 7 + w * (2.0 / 11 + w * (2.0 / 15 + w * (2.0 / 19)))));
  const double half_square = 0.5 * f * f;
  const double n = static_cast<double>(k + exponent);
  return n * kLn2High - ((half_square - (s * (half_square + (even + odd)) + n * kLn2Low)) - f);
}

/// sin and cos of 2 pi t for |t| < 1. t - q/4 with q = nearest(4t) is exact, |t - q/4| <= 1/8;
/// there Taylor's series of sin and cos at x = 2 pi (t - q/4), |x| <= pi/4, cut after x^17 and
/// x^16, err by less than x^19/19! < 1e-19 and x^18/18! < 3e-18. The quadrant q swaps the two and
/// sets the signs.
inline SinCos sincos_within_turn(double t) noexcept {
  const double quarter_turns = nearest_integer(4.0 * t);
  const auto quadrant = static_cast<uint64_t>(static_cast<int64_t>(quarter_turns));
  const double x = 0x1.921fb54442d18p2 * (t - 0.25 * quarter_turns);
  const double y = x * x, y2 = y * y, y4 = y2 * y2;
  const double sine_tail = (-1.0 / 6 + y * (1.0 / 120)) + y2 * (-1.0 / 5040 + y * (1.0 / 362880)) +
                           y4 * ((-1.0 / 39916800 + y * (1.0 / 6227020800)) +
                                 y2 * (-1.0 / 1307674368000 + y * (1.0 / 355687428096000)));
  const double cosine_tail =
      (1.0 / 24 + y * (-1.0 / 720)) + y2 * (1.0 / 40320 + y * (-1.0 / 3628800)) +
      y4 * ((1.0 / 479001600 + y * (-1.0 / 87178291200)) + y2 * (1.0 / 20922789888000));
  const uint64_t sine = std::bit_cast<uint64_t>(x + x * y * sine_tail);
  const uint64_t cosine = std::bit_cast<uint64_t>((1.0 - 0.5 * y) + y2 * cosine_tail);
  const uint64_t swapped = (sine ^ cosine) & (0 - (quadrant & 1));
  const uint64_t sine_sign = (quadrant & 2) << 62, cosine_sign = ((quadrant + 1) & 2) << 62;
  return {std::bit_cast<double>(sine ^ swapped ^ sine_sign),
          std::bit_cast<double>(cosine ^ swapped ^ cosine_sign)};
}

}  // namespace mercer::random::elementary

namespace mercer::random {

// Quantiles of Gamma(shape, scale 1), for low-discrepancy points: these need the inverse
// distribution function, as the sampler of random/distributions.h rejects.

/// ln Gamma(a) for a > 0, absolute error below 1e-14 (1 + |ln Gamma(a)|).
double portable_log_gamma(double a) noexcept;

/// P(G <= x) Gamma(a + 1) / (x^a e^{-x}) for G of shape a, x <= a + 1, by its power series.
double lower_gamma_series(double a, double x) noexcept;

/// shape > 0.
class GammaQuantile {
 public:
  explicit GammaQuantile(double shape) noexcept;

  /// x with P(G <= x) = u, u in [2^-54, 1 - 2^-53], relative error below 1e-12 + 1e-14 / shape (0
  /// where x is below the least double).
  double lower(double u) const noexcept;
  /// x with P(G > x) = u.
  double upper(double u) const noexcept;

 private:
  double solve(double below, double above) const noexcept;
  double solve_below(double mass, double guess) const noexcept;
  double solve_above(double mass, double guess) const noexcept;
  double expansion(double below, double above) const noexcept;
  double wilson_hilferty(double below, double above) const noexcept;

  double shape_;
  double log_gamma_ = 0;   // log Gamma(shape)
  double mass_below_ = 0;  // P(G <= shape + 1)
};

}  // namespace mercer::random
