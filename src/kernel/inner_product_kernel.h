// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels that are a function f of s = sum_k c_k x_k y_k, and their derivatives:
//   d^{p,q} f(s) = sum_r f^(n)(s) prod_k binomial(q_k, r_k) p_k!/(p_k - r_k)! c_k^{r_k}
//                  (c_k x_k)^{q_k - r_k} (c_k y_k)^{p_k - r_k},
// r_k <= min(p_k, q_k), n = sum_k (p_k + q_k - r_k).
#pragma once

#include <memory>

#include "kernel/entry.h"
#include "kernel/slope_sum.h"

namespace mercer::kernel {

inline constexpr int64_t kMostPower = 1024;  // no sketch of a higher degree is accurate

/// Derived offers  double input_factor(k) const, c_k, and  void slopes(d, x, y, count, f) const
/// which sets f[n] = f^(n)(s), n < count, the variance in them.
template <class Derived>
class InnerProductKernel : public Kernel {
 public:
  int64_t most_derivatives() const noexcept final { return SlopeSum::kMost; }

  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const final {
    return make_differential(
        [this, p, q](int64_t d, const double* x, const double* y) { return at(p, q, d, x, y); });
  }

  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept final {
    double f[2];
    self().slopes(d, x, y, 2, f);
    for (int64_t k = 0; k < d; ++k) out[k] += factor * f[1] * (self().input_factor(k) * y[k]);
  }

 protected:
  using Kernel::Kernel;

 private:
  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }

  double at(const MultiIndex& p, const MultiIndex& q, int64_t d, const double* x,
            const double* y) const noexcept {
    SlopeSum sum;
    for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
      const double c = self().input_factor(k);
      double terms[SlopeSum::kMost + 1] = {};
      double term = 1;  // binomial(b, r) a!/(a - r)! c^r
      for (int64_t r = 0; r <= std::min(a, b); ++r) {
        double power = term;
        for (int64_t m = r; m < b; ++m) power *= c * x[k];
        for (int64_t m = r; m < a; ++m) power *= c * y[k];
        terms[a + b - r] = power;
        term *= c * static_cast<double>(b - r) * static_cast<double>(a - r) /
                static_cast<double>(r + 1);
      }
      sum.multiply(terms, a + b);
    });
    double f[SlopeSum::kMost + 1];
    self().slopes(d, x, y, sum.highest() + 1, f);
    return sum.at(f);
  }
};

}  // namespace mercer::kernel
