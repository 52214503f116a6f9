// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Quantiles of the density exp(-w^{2q}): the incomplete gamma function of shape a = 1/(2q) at x =
// r^{2q}, by its power series below x = 3/2 and its continued fraction above (Abramowitz, Stegun
// 1964, 6.5.29 and 6.5.31), inverted by Newton's method from the side on which it converges
// monotonically. All of it decides parameters of a map, hence no libm.
#include "kernel/even_power_law.h"
#include "random/gamma_quantile.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

constexpr double kSwitch = 1.5;
constexpr int kFractionTerms = 80;  // error about exp(-4 sqrt(80 kSwitch)) < 1e-18
constexpr int kNewtonSteps = 60;    // a bound only: about six are taken

double even_power(double r, int64_t order) noexcept {
  const double square = r * r;
  double power = 1;
  for (int64_t i = 0; i < order; ++i) power *= square;
  return power;
}

// Gamma(a, x) / (x^a e^{-x}).
double upper_fraction(double a, double x) noexcept {
  double tail = 0;
  for (int k = kFractionTerms; k >= 1; --k) tail = k * (k - a) / (x + 2 * k + 1 - a - tail);
  return 1 / (x + 1 - a - tail);
}

double above(double a, double x) noexcept {
  return a * random::portable_pow(x, a) * random::portable_exp(-x) * upper_fraction(a, x);
}

double distance(double a, double b) noexcept { return a < b ? b - a : a - b; }

}  // namespace

EvenPowerQuantile::EvenPowerQuantile(int64_t order)
    : order_(order),
      shape_(1 / (2 * static_cast<double>(order))),
      switch_above_(above(shape_, kSwitch)),
      half_mass_(switch_above_ + below(random::portable_pow(kSwitch, shape_))) {}

double EvenPowerQuantile::below(double r) const noexcept {
  const double x = even_power(r, order_);
  return r * random::portable_exp(-x) * random::lower_gamma_series(shape_, x);
}

// below() is concave and at most r, so Newton's iterates climb to the root from r = mass.
double EvenPowerQuantile::solve_below(double mass) const noexcept {
  double r = mass;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double step = (mass - below(r)) * random::portable_exp(even_power(r, order_));
    r += step;
    if (distance(step, 0) <= 1e-16 * r) break;
  }
  return r;
}

// The logarithm of the mass above is convex and falling in x, so iterates climb to the root from x
// = kSwitch.
double EvenPowerQuantile::solve_above(double mass) const noexcept {
  const double target = random::portable_log(mass / shape_);
  double x = kSwitch;
  for (int i = 0; i < kNewtonSteps; ++i) {
    const double fraction = upper_fraction(shape_, x);
    const double log_mass = shape_ * random::portable_log(x) - x + random::portable_log(fraction);
    const double step = (log_mass - target) * x * fraction;
    x += step;
    if (distance(step, 0) <= 1e-16 * x) break;
  }
  return random::portable_pow(x, shape_);
}

double EvenPowerQuantile::operator()(double u) const noexcept {
  const double tail = u < 0.5 ? 2 * u : 2 * (1 - u);  // P(|w| > r)
  const double mass = tail * half_mass_;
  const double r = mass < switch_above_ ? solve_above(mass) : solve_below((1 - tail) * half_mass_);
  return u < 0.5 ? -r : r;
}

}  // namespace mercer::kernel
