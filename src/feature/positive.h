// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Closed-form variances of positive features, and of their trigonometric form, with i.i.d. normal
// columns: for exp(x'y) and, with radial factors, for the Gaussian kernel.
#pragma once

#include <cstdint>

namespace mercer::feature {

/// What the variance at two rows depends on; rows are over the lengthscale, and k(x, y) > 0.
struct ExponentialPair {
  double log_k;
  double sum;         // ||x + y||^2
  double difference;  // ||x - y||^2
};

/// D columns (1 - 4 A)^{d/4} exp(A ||w||^2 + sqrt(1 - 4 A) w'x - ...), A < 1/8: for A = 0 this is
/// k^2 (exp(||x + y||^2) - 1)/D.
double tilted_variance(const ExponentialPair& pair, int64_t d, double A, int64_t D) noexcept;
/// The A of least variance at pairs with this mean of ||x + y||^2 (Likhosherstov et al. 2022).
double best_tilt(double sum, int64_t d) noexcept;
/// D/2 columns each of exp(w'x - ...) and exp(-w'x - ...): 4 k^2 sinh^2(||x + y||^2 / 2)/D.
double hyperbolic_variance(const ExponentialPair& pair, int64_t D) noexcept;
/// D/2 columns each of cos and sin: 4 k^2 sinh^2(||x - y||^2 / 2)/D.
double trigonometric_variance(const ExponentialPair& pair, int64_t D) noexcept;

/// What the covariance of the estimates at (x, y) and (x, z) depends on: the logarithm of
/// k(x, y) k(x, z), and of a = x + y and b = x + z, for trigonometric features x - y and x - z.
struct ExponentialTriple {
  double log_k;
  double squares;  // ||a||^2 + ||b||^2
  double inner;    // a'b
};
/// The covariance for columns with a tilt A: at A = 0 it is k(x, y) k(x, z) (exp(a'b) - 1)/D.
double tilted_covariance(const ExponentialTriple& at, int64_t d, double A, int64_t D) noexcept;
/// The covariance for hyperbolic and trigonometric columns: 4 k(x, y) k(x, z) sinh^2(a'b / 2)/D.
double paired_covariance(const ExponentialTriple& at, int64_t D) noexcept;

}  // namespace mercer::feature
