// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels that are functions of inner products.
#pragma once

#include <cstdint>
#include <memory>

#include "kernel/entry.h"
#include "kernel/jet.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

// Kernels that are a function f of s = sum_k c_k x_k y_k, and their derivatives:
//   d^{p,q} f(s) = sum_r f^(n)(s) prod_k binomial(q_k, r_k) p_k!/(p_k - r_k)! c_k^{r_k}
//                  (c_k x_k)^{q_k - r_k} (c_k y_k)^{p_k - r_k},
// r_k <= min(p_k, q_k), n = sum_k (p_k + q_k - r_k).

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

// a_n = variance / n!: exp(x'y), and with radial factors the Gaussian exp(x'y) exp(-||x||^2 / 2)
// exp(-||y||^2 / 2), rows over the lengthscale.

class ExponentialSeries final : public PowerSeries {
 public:
  ExponentialSeries(double variance, double radial) : variance_(variance), radial_(radial) {}
  double coefficient(int64_t n) const noexcept override {
    if (n < 0) return 0;
    double a = variance_;
    for (int64_t i = 2; i <= n && a > 0; ++i) a /= static_cast<double>(i);
    return a;
  }
  std::optional<int64_t> degree() const noexcept override { return std::nullopt; }
  bool is_exponential() const noexcept override { return true; }
  double radial() const noexcept override { return radial_; }

 private:
  double variance_;
  double radial_;
};

// Moments of powers of the positive part of normal variates: the arc-cosine kernels.

// Norms of two rows and the angle between them, which kernels of random neurons depend on.

/// All NaN if an entry of x or y is not finite. A row of zeros is at a right angle to every row
/// except another row of zeros, with which it has angle 0.
struct Angle {
  double x;      // ||x||
  double y;      // ||y||
  double theta;  // in [0, pi]
  double rest;   // pi - theta, without cancellation

  bool has_zeros() const noexcept { return x == 0 || y == 0; }
};

/// Symmetric in x and y to the bit. theta and rest are accurate to a few d relative roundings, also
/// near 0 and pi, where acos of the cosine loses half of the digits; a norm overflows or underflows
/// only if it is not representable.
Angle angle_between(int64_t d, const double* x, const double* y) noexcept;

/// 2 E[(w'x)_+^n (w'y)_+^n], w ~ N(0, I): k_n = ||x||^n ||y||^n J_n(theta) / pi, n = 0, 1, 2 or 4
/// (others: NaN); (w'x)_+^0 is 1[w'x > 0]. Rows of zeros: 0.
double arc_cosine_moment(int n, const Angle& angle) noexcept;

// Moments of intensities behind a random scatterer: the optical kernels.

/// The law of the entries of u: CN(0, 1), or of real ones N(0, 1).
enum class OpticalEntries { complex, real };

/// E |u'x|^{2s} |u'y|^{2s} of independent entries: sum_i (s! C(s, i))^2 dot^{2i} N^{s-i}, N = ||x||^2
/// ||y||^2, dot = x'y; of real ones sum_i (2i)! (C(2s, 2i) (2s - 2i - 1)!!)^2 dot^{2i} N^{s-i}.
double optical_moment(OpticalEntries entries, int64_t s, double dot, double N) noexcept;

}  // namespace mercer::kernel
