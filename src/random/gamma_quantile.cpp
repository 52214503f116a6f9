// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The incomplete gamma function of shape a at x = e^y by its power series below a + 1 and its
// continued fraction above (Abramowitz, Stegun 1964, 6.5.29 and 6.5.31), inverted by Newton's
// method for the logarithm of the mass as a function of y. Both masses are log-concave in y, so
// from the second step on the iterates come from one side and stay where series and fraction
// converge. From shape 10,000 on it uses the expansion of Cornish and Fisher (1938; Fisher, Cornish
// 1960) in powers of a^{-1/2}: its first omitted term is below 1e-12 for every u. The result
// decides parameters of a map, hence no libm.
#include "random/gamma_quantile.h"

#include <algorithm>
#include <cmath>

#include "random/scalar_math.h"

namespace mercer::random {
namespace {

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
