// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Portable log, exp, sin/cos, tan and pow: argument reduction and Taylor series, the bodies shared
// with the filling loops in random/scalar_math.h. No libm, whose last place differs between systems.
#include "random/scalar_math.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <initializer_list>

#include "base/numbers.h"

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

// Inverse of the standard normal distribution function: Wichura, "Algorithm AS 241: the percentage
// points of the normal distribution", Applied Statistics 37 (1988), routine PPND16 with its three
// rational approximations.
using Coefficients = std::array<double, 8>;

constexpr Coefficients kCentreTop = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                     1.9715909503065514427e3, 1.3731693765509461125e4,
                                     4.5921953931549871457e4, 6.7265770927008700853e4,
                                     3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr Coefficients kCentreBottom = {1.0,
                                        4.2313330701600911252e1,
                                        6.8718700749205790830e2,
                                        5.3941960214247511077e3,
                                        2.1213794301586595867e4,
                                        3.9307895800092710610e4,
                                        2.8729085735721942674e4,
                                        5.2264952788528545610e3};
constexpr Coefficients kTailTop = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                   5.76949722146069140550e0,  3.64784832476320460504e0,
                                   1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr Coefficients kTailBottom = {1.0,
                                      2.05319162663775882187e0,
                                      1.67638483018380384940e0,
                                      6.89767334985100004550e-1,
                                      1.48103976427480074590e-1,
                                      1.51986665636164571966e-2,
                                      5.47593808499534494600e-4,
                                      1.05075007164441684324e-9};
constexpr Coefficients kFarTop = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr Coefficients kFarBottom = {1.0,
                                     5.99832206555887937690e-1,
                                     1.36929880922735805310e-1,
                                     1.48753612908506148525e-2,
                                     7.86869131145613259100e-4,
                                     1.84631831751005468180e-5,
                                     1.42151175831644588870e-7,
                                     2.04426310338993978564e-15};

double polynomial(const Coefficients& c, double x) noexcept {
  double sum = c[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

// The incomplete gamma function of shape a at x = e^y by its power series below a + 1 and its
// continued fraction above (Abramowitz, Stegun 1964, 6.5.29 and 6.5.31), inverted by Newton's
// method for the logarithm of the mass as a function of y. Both masses are log-concave in y, so
// from the second step on the iterates come from one side and stay where series and fraction
// converge. From shape 10,000 on it uses the expansion of Cornish and Fisher (1938; Fisher, Cornish
// 1960) in powers of a^{-1/2}: its first omitted term is below 1e-12 for every u. The result
// decides parameters of a map, hence no libm.
constexpr double kExpansionFrom = 1e4;
constexpr int kMostTerms = 20000;   // never reached: about 10 sqrt(a) are taken
constexpr int kNewtonSteps = 100;   // never reached: about four are taken
constexpr double kLastStep = 1e-8;  // the next one would be about its square
constexpr double kRoundoff = 0x1p-53;

// P(G > x) / (x^a e^{-x} / Gamma(a)) for x >= a + 1, by Lentz's method (1976).
double fraction(double a, double x) noexcept {
  double b = x + 1 - a;
  double c = 1e300, d = 1 / b, value = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double an = n * (a - n);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    const double factor = c * d;
    value *= factor;
    if (std::fabs(factor - 1) <= kRoundoff) break;
  }
  return value;
}

double normal_of(double below, double above) noexcept {
  return below < above ? normal_quantile(below) : -normal_quantile(above);
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

double normal_quantile(double p) noexcept {
  const double q = p - 0.5;
  if (q <= 0.425 && q >= -0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kCentreTop, r) / polynomial(kCentreBottom, r);
  }
  const double r = std::sqrt(-portable_log(q < 0.0 ? p : 1.0 - p));
  const double tail = r <= 5.0 ? polynomial(kTailTop, r - 1.6) / polynomial(kTailBottom, r - 1.6)
                               : polynomial(kFarTop, r - 5.0) / polynomial(kFarBottom, r - 5.0);
  return q < 0.0 ? -tail : tail;
}

double lower_gamma_series(double a, double x) noexcept {
  double term = 1, sum = 1;
  for (int n = 1; n < kMostTerms && term > kRoundoff * sum; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

// Stirling's series from 10 on, where its first omitted term is below 1e-16.
double portable_log_gamma(double a) noexcept {
  double product = 1;
  for (; a < 10; a += 1) product *= a;
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const double i = 1 / a, s = i * i;
  const double tail =
      i * (1.0 / 12 -
           s * (1.0 / 360 - s * (1.0 / 1260 -
                                 s * (1.0 / 1680 -
                                      s * (1.0 / 1188 - s * (691.0 / 360360 - s * (1.0 / 156)))))));
  return (a - 0.5) * portable_log(a) - a + kHalfLogTwoPi + tail - portable_log(product);
}

GammaQuantile::GammaQuantile(double shape) noexcept : shape_(shape) {
  if (shape >= kExpansionFrom) return;
  log_gamma_ = portable_log_gamma(shape);
  const double x = shape + 1;
  const double log_density = shape * portable_log(x) - x - log_gamma_;
  mass_below_ = portable_exp(log_density) * lower_gamma_series(shape, x) / shape;
}

double GammaQuantile::lower(double u) const noexcept { return solve(u, 1 - u); }
double GammaQuantile::upper(double u) const noexcept { return solve(1 - u, u); }

double GammaQuantile::solve(double below, double above) const noexcept {
  if (shape_ >= kExpansionFrom) return expansion(below, above);
  const double x = shape_ < 1 ? -portable_log(above) : wilson_hilferty(below, above);
  return below < mass_below_ ? solve_below(below, x) : solve_above(above, x);
}

double GammaQuantile::expansion(double below, double above) const noexcept {
  const double z = normal_of(below, above), q = z * z;
  const double terms[] = {
      z,
      (q - 1) / 3,
      z * (q - 7) / 36,
      ((-3 * q - 7) * q + 16) / 810,
      z * ((9 * q + 256) * q - 433) / 38880,
      (((12 * q - 243) * q - 923) * q + 1472) / 204120,
  };
  const double r = 1 / std::sqrt(shape_);
  double sum = 0;
  for (int k = 5; k >= 0; --k) sum = (sum + terms[k]) * r;
  return shape_ * (1 + sum);
}

// A first guess (Wilson, Hilferty 1931), for shapes from 1 on.
double GammaQuantile::wilson_hilferty(double below, double above) const noexcept {
  const double root = 1 - 1 / (9 * shape_) + normal_of(below, above) / (3 * std::sqrt(shape_));
  return root > 0 ? shape_ * root * root * root : 0;
}

double GammaQuantile::solve_below(double mass, double guess) const noexcept {
  const double log_gamma = log_gamma_ + portable_log(shape_);  // log Gamma(shape + 1)
  const double target = portable_log(mass) + log_gamma;
  const double most = portable_log(shape_ + 1);
  // The mass is at most x^a / Gamma(a + 1), and near it for small x.
  double y = target / shape_;
  if (shape_ >= 1 && guess > 0) y = std::max(y, portable_log(guess));
  y = std::min(y, most);
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double x = portable_exp(y);
    const double sum = lower_gamma_series(shape_, x);
    const double step = (target - shape_ * y + x - portable_log(sum)) * sum / shape_;
    y = std::min(y + step, most);
    if (std::fabs(step) <= kLastStep) break;
  }
  return portable_exp(y);
}

double GammaQuantile::solve_above(double mass, double guess) const noexcept {
  const double target = portable_log(mass) + log_gamma_;
  const double least = portable_log(shape_ + 1);
  double y = std::max(least, portable_log(guess));
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double x = portable_exp(y);
    const double value = fraction(shape_, x);
    const double step = (shape_ * y - x + portable_log(value) - target) * value;
    y = std::max(y + step, least);
    if (std::fabs(step) <= kLastStep) break;
  }
  return portable_exp(y);
}

}  // namespace mercer::random
