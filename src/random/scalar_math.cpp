// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Portable log, exp, sin/cos, tan and pow: argument reduction and Taylor series, the bodies shared
// with the filling loops in random/elementary.h. No libm, whose last place differs between systems.
#include "random/scalar_math.h"

#include <bit>
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

/// The bits of 1/(2 pi) after 192 zeros, which let a product's exponent be negative. The largest one
/// reads the words up to the last.
constexpr int kBitsBefore = 192;
constexpr uint64_t kInverseTurn[] = {0,
                                     0,
                                     0,
                                     0x28be60db9391054a,
                                     0x7f09d5f47d4d3770,
                                     0x36d8a5664f10e410,
                                     0x7f9458eaf7aef158,
                                     0x6dc91b8e909374b8,
                                     0x01924bba82746487,
                                     0x3f877ac72c4a69cf,
                                     0xba208d7d4baed121,
                                     0x3a671c09ad17df90,
                                     0x4e64758e60d4ce7d,
                                     0x272117e2ef7e4a0e,
                                     0xc7fe25fff7816603,
                                     0xfbcbc462d6829b47,
                                     0xdb4d9fb3c9f2c26d,
                                     0xd3d18fd9a797fa8b,
                                     0x5d49eeb1faf97c5e,
                                     0xcf41ce7de294a4ba,
                                     0x9afed7ec47e35742,
                                     0x1580cc11bf1edaea,
                                     0xfc33ef0826bd0d87,
                                     0x6a78e45857b986c2,
                                     0x19666157c5281a10,
                                     0x237ff620135cc9cc,
                                     0x41818555b29cea32,
                                     0x58389ef0231ad1f1,
                                     0x0670d9f3773a024a,
                                     0xa0d6711da2e58729,
                                     0xb76bd13455c6414f,
                                     0xa97fc1c14fdf8cfa,
                                     0x0cb0b793e60c9f6e,
                                     0xf0cf49bbdac797be,
                                     0x27ce87cd72bc9fc7,
                                     0x61fc48641f1f091a,
                                     0xbe9bb55dcb4c10ce};

/// |x| = mantissa 2^exponent.
struct Whole {
  uint64_t mantissa;
  int exponent;
};
Whole whole_of(double x) noexcept {
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & 0xfffffffffffff;
  if (biased == 0) return {fraction, -1074};
  return {fraction | uint64_t{1} << 52, biased - 1075};
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

uint64_t portable_turns_of_product(double x, double y) noexcept {
  using Wide = unsigned __int128;
  const Whole a = whole_of(x), b = whole_of(y);
  const int skipped = a.exponent + b.exponent + kBitsBefore;  // bits that only make whole turns
  if (skipped < 0) return 0;                                  // below 2^-86 of a turn
  const uint64_t* const words = kInverseTurn + skipped / 64;
  const int shift = skipped % 64;
  const auto word = [&](int i) {
    return static_cast<uint64_t>(((Wide{words[i]} << 64 | words[i + 1]) << shift) >> 64);
  };
  // The product modulo 2^192, of which the upper 64 bits are kept.
  const Wide product = Wide{a.mantissa} * b.mantissa;
  const auto low = static_cast<uint64_t>(product), high = static_cast<uint64_t>(product >> 64);
  const Wide below = Wide{low} * word(2), middle = Wide{low} * word(1),
             across = Wide{high} * word(2);
  const Wide carried =
      (below >> 64) + static_cast<uint64_t>(middle) + static_cast<uint64_t>(across);
  const auto turns = static_cast<uint64_t>(carried >> 64) + static_cast<uint64_t>(middle >> 64) +
                     static_cast<uint64_t>(across >> 64) + low * word(0) + high * word(1);
  return std::signbit(x) == std::signbit(y) ? turns : -turns;
}

double portable_tan_half_turns(double u) noexcept {
  const SinCos at = elementary::sincos_within_turn(0.5 * u);
  return at.sin / at.cos;
}

double portable_pow(double x, double y) noexcept { return portable_exp(y * portable_log(x)); }

}  // namespace mercer::random
