// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Additive homogeneous kernels k(x, y) = variance sum_j term(x_j, y_j) of rows without negative
// entries, and the spectra that their maps sample (Vedaldi, Zisserman 2012), the same bits on every
// machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <span>

#include "base/numbers.h"
#include "kernel/half_line_kernel.h"
#include "random/scalar_math.h"

namespace mercer::kernel {

/// sech(pi l) = 2 e / (1 + e^2), e = exp(-pi |l|).
inline double sech_pi(double l) noexcept {
  constexpr double kPi = 3.14159265358979323846;
  const double e = random::portable_exp(-kPi * std::fabs(l));
  return 2 * e / (1 + e * e);
}

/// A density with unbounded support. `periods`: the best ones of the first orders; beyond, they are
/// extrapolated by a power of the order, which they nearly follow by then.
class SampledSpectrum final : public HomogeneousSpectrum {
 public:
  SampledSpectrum(double (*density)(double) noexcept, std::span<const double> periods, double power)
      : density_(density), periods_(periods), power_(power) {}
  double density(double l) const noexcept override { return density_(l); }
  double best_period(int64_t order) const noexcept override {
    const int64_t last = std::ssize(periods_) - 1;
    if (order <= last) return periods_[order];
    const double beyond = static_cast<double>(order) / static_cast<double>(last);
    return periods_[last] * random::portable_pow(beyond, -power_);
  }
  int64_t most_order() const noexcept override { return 1000; }

 private:
  double (*density_)(double) noexcept;
  std::span<const double> periods_;
  double power_;
};

/// Term offers  static double of(x, y)  for x, y >= 0, symmetric, and  static spectrum(); if it is
/// smooth,  static double derivative(a, b, x, y), of order a in x and b in y, a + b > 0.
template <class Term>
class HomogeneousKernel final : public HalfLineKernel<HomogeneousKernel<Term>, Sum> {
 public:
  explicit HomogeneousKernel(const Parameters& canonical)
      : HalfLineKernel<HomogeneousKernel<Term>, Sum>(canonical) {}
  const HomogeneousSpectrum* homogeneous() const noexcept override { return &spectrum_; }
  static double term(double x, double y) noexcept { return Term::of(x, y); }

  int64_t most_derivatives() const noexcept override {
    return kIsSmooth ? 2 * kMostDerivatives : 0;
  }
  // A term has one input, so other derivatives are 0.
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    if constexpr (!kIsSmooth) {
      return Kernel::differential(p, q);
    } else {
      return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
        if (p.empty() && q.empty()) return this->value(d, x, y);
        int64_t inputs = 0;
        double last = 0;
        for_each_input(p, q, [&](int64_t k, int64_t a, int64_t b) noexcept {
          last = slope(a, b, x[k], y[k]);
          ++inputs;
        });
        return outside(d, x, y) + (inputs > 1 ? 0 : this->variance() * last);
      });
    }
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    if constexpr (!kIsSmooth) {
      Kernel::add_gradient(factor, d, x, y, out);
    } else {
      const double none = outside(d, x, y);
      for (int64_t k = 0; k < d; ++k)
        out[k] += factor * this->variance() * slope(1, 0, x[k], y[k]) + none;
    }
  }

 private:
  static constexpr bool kIsSmooth = requires { Term::derivative(0, 0, 0.0, 0.0); };

  // A term with one input 0 is 0 whatever the other input.
  static double slope(int64_t a, int64_t b, double x, double y) noexcept {
    if ((b == 0 && y == 0) || (a == 0 && x == 0)) return 0;
    return Term::derivative(a, b, x, y);
  }
  // 0, or NaN where there is no kernel.
  static double outside(int64_t d, const double* x, const double* y) noexcept {
    const auto within = [](double number) { return number >= 0; };
    return std::all_of(x, x + d, within) && std::all_of(y, y + d, within) ? 0 : kNaN;
  }

  decltype(Term::spectrum()) spectrum_ = Term::spectrum();
};

/// The entry of such a kernel.
template <class Term>
KernelEntry homogeneous_entry(const char* name, const char* help) {
  return entry_of<HomogeneousKernel<Term>>(name, help, {}, "additive");
}

}  // namespace mercer::kernel
