// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With t = x + y and normal w, E exp(w't) = exp(||t||^2 / 2): the estimate of one column is k
// exp(w't - ||t||^2 / 2), whose square has the mean k^2 exp(||t||^2) (Choromanski et al., ICLR
// 2021, lemma 2); that of a pair of columns is k cosh(w't) exp(-||t||^2 / 2), with cosh^2 = (1 +
// cosh(2 w't)) / 2. The trigonometric one is the same with t = i (x - y). Products of k^2 and
// exponentials are made of logarithms: one factor may overflow where the other vanishes.
#include "moment/positive_variance.h"

#include <cmath>

namespace mercer::moment {
namespace {

// 4 k^2 sinh^2(r / 2) = k^2 exp(r) (1 - exp(-r))^2, of the logarithm of k^2.
double squared_sinh(double log_square, double r, int64_t D) noexcept {
  const double rest = std::expm1(-r);
  return std::exp(log_square + r) * rest * rest / static_cast<double>(D);
}

}  // namespace

double positive_variance(const ExponentialPair& pair, int64_t D) noexcept {
  return std::exp(2 * pair.log_k + pair.sum) * -std::expm1(-pair.sum) / static_cast<double>(D);
}

double tilted_variance(const ExponentialPair& pair, int64_t d, double A, int64_t D) noexcept {
  const double half = static_cast<double>(d) / 2;
  const double excess = 2 * half * std::log1p(-4 * A) - half * std::log1p(-8 * A) +
                        pair.sum / (1 - 8 * A);  // 2 (1 - 4 A)/(1 - 8 A) - 1
  return std::exp(2 * pair.log_k + excess) * -std::expm1(-excess) / static_cast<double>(D);
}

double best_tilt(double sum, int64_t d) noexcept {
  const double phi = sum / static_cast<double>(d);
  const double root = std::sqrt((1 + 2 * phi) * (1 + 2 * phi) + 8 * phi);
  // (1 - 2 phi - root)/16 without cancellation: the numerator's conjugate.
  return -phi / (1 - 2 * phi + root);
}

double hyperbolic_variance(const ExponentialPair& pair, int64_t D) noexcept {
  return squared_sinh(2 * pair.log_k, pair.sum, D);
}

double trigonometric_variance(const ExponentialPair& pair, int64_t D) noexcept {
  return squared_sinh(2 * pair.log_k, pair.difference, D);
}

// A column of the two estimates has the product (1 - 4 A)^d exp(4 A ||w||^2 + sqrt(1 - 4 A) w'(a +
// b) - ...), and E exp(s ||w||^2 + t'w) = (1 - 2 s)^{-d/2} exp(||t||^2 / (2 (1 - 2 s))).
double tilted_covariance(const ExponentialTriple& at, int64_t d, double A, int64_t D) noexcept {
  const double half = static_cast<double>(d) / 2;
  const double excess = 2 * half * std::log1p(-4 * A) - half * std::log1p(-8 * A) +
                        (1 - 4 * A) / (1 - 8 * A) * (at.squares / 2 + at.inner) - at.squares / 2;
  return std::exp(at.log_k + excess) * -std::expm1(-excess) / static_cast<double>(D);
}

// As above with cosh(w'a) cosh(w'b), half the sum of cosh at w'(a + b) and w'(a - b).
double paired_covariance(const ExponentialTriple& at, int64_t D) noexcept {
  return squared_sinh(at.log_k, std::fabs(at.inner), D);
}

}  // namespace mercer::moment
