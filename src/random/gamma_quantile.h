// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Quantiles of Gamma(shape, scale 1), for low-discrepancy points: these need the inverse
// distribution function, as the sampler of random/distributions.h rejects.
#pragma once

namespace mercer::random {

/// ln Gamma(a) for a > 0, absolute error below 1e-14 (1 + |ln Gamma(a)|); uses scalar_math.h only.
double portable_log_gamma(double a) noexcept;

/// P(G <= x) Gamma(a + 1) / (x^a e^{-x}) for G of shape a, x <= a + 1, by its power series.
double lower_gamma_series(double a, double x) noexcept;

/// shape > 0; uses scalar_math.h only.
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
