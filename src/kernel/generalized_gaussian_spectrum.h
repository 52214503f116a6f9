// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The probability density proportional to exp(-w^{2q}) on the line, q = 1, 2, ...: quantile and
// characteristic function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mercer::kernel {

/// Quantiles, by deterministic arithmetic (+ - x / sqrt and random/scalar_math.h).
class EvenPowerQuantile {
 public:
  explicit EvenPowerQuantile(int64_t order);
  /// Inverse distribution function at u in (0, 1), relative error below 1e-13.
  double operator()(double u) const noexcept;

 private:
  double below(double r) const noexcept;           // int_0^r exp(-w^{2q}) dw, r^{2q} <= kSwitch
  double solve_below(double mass) const noexcept;  // its inverse
  double solve_above(double mass) const noexcept;  // r with int_r^inf = mass, r^{2q} >= kSwitch
  int64_t order_;
  double shape_;         // 1/(2q)
  double switch_above_;  // the mass beyond r^{2q} = kSwitch
  double half_mass_;     // int_0^inf = Gamma(1 + 1/(2q))
};

/// A derivative of the characteristic function for q >= 2 (q = 1: exp(-t^2/4)), absolute error
/// below 1e-14 times E |w|^derivative and 1. A table of Taylor polynomials, filled once from the
/// trapezoidal rule.
class EvenPowerCharacteristic {
 public:
  explicit EvenPowerCharacteristic(int64_t order, int64_t derivative = 0);
  double operator()(double t) const noexcept;
  /// The next derivative, by those of the polynomials.
  double slope(double t) const noexcept;

 private:
  // At |t|, which is below the limit: where, and the polynomial's first coefficient.
  const double* polynomial(double t, double* s) const noexcept;

  std::vector<double> coefficients_;
  size_t terms_;
  bool is_odd_;
  double limit_;  // beyond, the value is below 1e-16 of the largest and taken as 0
};

}  // namespace mercer::kernel
