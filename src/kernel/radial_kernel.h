// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels that are a function f of s = sum_k t_k^2, t_k = (x_k - y_k)/l_k, and their derivatives:
//   d^p f(s) = sum_j f^(n)(s) prod_k p_k!/((p_k - 2 j_k)! j_k!) (2 t_k)^{p_k - 2 j_k} / l_k^{p_k},
// 2 j_k <= p_k, n = sum_k (p_k - j_k), since s(x + h) = s + sum_k (2 t_k h_k/l_k + h_k^2/l_k^2).
#pragma once

#include "kernel/coordinate_kernel.h"
#include "kernel/multi_index.h"
#include "kernel/slope_sum.h"

namespace mercer::kernel {

/// Derived offers  double finish(s) const, f itself, and  void slopes(s, count, f) const  which
/// sets f[n] = f^(n)(s), n < count <= most_derivatives() + 1: any finite number where s is 0 and
/// that has no limit.
template <class Derived, class Base = CoordinateKernel<Derived, Sum>>
class RadialKernel : public Base {
 public:
  using Kernel::derivative;
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return t * t;
  }

  double derivative(const MultiIndex& order, int64_t d, const double* x,
                    const double* y) const noexcept override {
    SlopeSum sum;
    for (const PartialFactor& one : order) {
      const double inverse = this->inverse(one.input);
      const double t = (x[one.input] - y[one.input]) * inverse;
      double terms[SlopeSum::kMost + 1] = {};  // of f^(n)
      double term = 1;                         // p!/((p - 2j)! j!) / l^p
      for (int64_t m = 0; m < one.order; ++m) term *= inverse;
      for (int64_t j = 0; 2 * j <= one.order; ++j) {
        double power = 1;
        for (int64_t m = 2 * j; m < one.order; ++m) power *= 2 * t;
        terms[one.order - j] = term * power;
        term *= static_cast<double>((one.order - 2 * j) * (one.order - 2 * j - 1)) /
                static_cast<double>(j + 1);
      }
      sum.multiply(terms, one.order);
    }
    double f[SlopeSum::kMost + 1];
    self().slopes(squares(d, x, y), sum.highest() + 1, f);
    return this->variance() * sum.at(f);
  }

  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    double f[2];
    self().slopes(squares(d, x, y), 2, f);
    if (f[1] == 0) return;  // far out, where t may be infinite
    const double slope = 2 * (factor * this->variance()) * f[1];
    for (int64_t k = 0; k < d; ++k) {
      const double inverse = this->inverse(k);
      out[k] += slope * ((x[k] - y[k]) * inverse) * inverse;
    }
  }

 protected:
  template <class... Argument>
  explicit RadialKernel(const Parameters& canonical, const Argument&... of_law)
      : Base(canonical, of_law...) {}

 private:
  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }
  double squares(int64_t d, const double* x, const double* y) const noexcept {
    return lane_fold<Sum>(d, [&](int64_t k) { return term(x[k], y[k], this->inverse(k)); });
  }
};

}  // namespace mercer::kernel
