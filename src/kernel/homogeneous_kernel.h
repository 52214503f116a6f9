// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Additive homogeneous kernels k(x, y) = variance sum_j term(x_j, y_j) of rows without negative
// entries, and the spectra that their maps sample (Vedaldi, Zisserman 2012), the same bits on every
// machine.
#pragma once

#include <cmath>
#include <iterator>
#include <span>

#include "kernel/half_line_kernel.h"
#include "random/scalar_math.h"

namespace mercer::kernel {

/// sech(pi l) = 2 e / (1 + e^2), e = exp(-pi |l|).
inline double sech_pi(double l) noexcept {
  constexpr double kPi = 3.14159265358979323846;
  const double e = random::portable_exp(-kPi * std::fabs(l));
  return 2 * e / (1 + e * e);
}

/// A density that never ends. `periods`: the best ones of the first orders; beyond, they fall as
/// that power of the order, which they nearly do by then.
class SampledSpectrum final : public HomogeneousSpectrum {
 public:
  SampledSpectrum(double (*density)(double) noexcept, std::span<const double> periods, double power)
      : density_(density), periods_(periods), power_(power) {}
  double density(double l) const noexcept override { return density_(l); }
  double best_period(int64_t order) const noexcept override {
    const int64_t last = std::ssize(periods_) - 1;
    if (order <= last) return periods_[static_cast<size_t>(order)];
    const double beyond = static_cast<double>(order) / static_cast<double>(last);
    return periods_[static_cast<size_t>(last)] * random::portable_pow(beyond, -power_);
  }
  int64_t most_order() const noexcept override { return 1000; }

 private:
  double (*density_)(double) noexcept;
  std::span<const double> periods_;
  double power_;
};

/// Term offers  static double of(x, y)  for x, y >= 0, symmetric, and  static spectrum().
template <class Term>
class HomogeneousKernel final : public HalfLineKernel<HomogeneousKernel<Term>, Sum> {
 public:
  explicit HomogeneousKernel(const Parameters& canonical)
      : HalfLineKernel<HomogeneousKernel<Term>, Sum>(canonical) {}
  const HomogeneousSpectrum* homogeneous() const noexcept override { return &spectrum_; }
  static double term(double x, double y) noexcept { return Term::of(x, y); }

 private:
  decltype(Term::spectrum()) spectrum_ = Term::spectrum();
};

/// The entry of such a kernel.
template <class Term>
KernelEntry homogeneous_entry(const char* name, const char* help) {
  return entry_of<HomogeneousKernel<Term>>(name, help, {}, "additive");
}

}  // namespace mercer::kernel
