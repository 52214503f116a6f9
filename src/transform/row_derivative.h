// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of row prologues, for features that are products over the inputs of row numbers times
// one function of a projection:
//  F(x) = g(x) f(W't(x)), g(x) = prod_k g_k(x_k), t(x)_k = t_k(x_k).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace mercer::transform {

/// With omega = w_k, in input k alone,
///   d^p F / dx_k^p = g sum_{q = least(p)}^p c(k, p, q, x_k) omega^q f^(q).
/// Immutable.
class RowDerivative {
 public:
  virtual ~RowDerivative() = default;
  virtual int64_t least(int64_t p) const noexcept = 0;
  /// 0 <= least(p) <= q <= p; c(k, 0, 0, x) = 1.
  virtual double coefficient(int64_t k, int64_t p, int64_t q, double x) const noexcept = 0;
};

/// g = 1, t(x) = x.
std::shared_ptr<const RowDerivative> plain_derivative();
/// g = 1, t_k(x) = log(x + shift): c = s(p, q) (x + shift)^{-p}, s the signed Stirling numbers of
/// the first kind.
std::shared_ptr<const RowDerivative> log_shift_derivative(double shift);
/// t(x) = x, g_k(x) = exp(-a_k x^2 / 2), one a or one per input:
///   c = C(p, q) G_{p-q}(x), G_0 = 1, G_1 = -a x, G_{n+1} = -a (x G_n + n G_{n-1}).
std::shared_ptr<const RowDerivative> radial_derivative(std::vector<double> a);

}  // namespace mercer::transform
