// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j 2 x_j y_j / (x_j + y_j): sqrt(x y) sech(t / 2) of t = log x - log y in each
// coordinate, whose spectrum is sech(pi l) (Vedaldi, Zisserman 2012, table 1).
#include <algorithm>
#include <cmath>

#include "kernel/half_line_kernel.h"
#include "kernel/sampled_spectrum.h"

namespace mercer::kernel {
namespace {

// Of orders 0 to 12: what minimises the largest error over t, in units of the mean of x and y.
constexpr double kPeriods[] = {0.8284, 0.5840, 0.4981, 0.4496, 0.4102, 0.3790, 0.3536,
                               0.3328, 0.3152, 0.3000, 0.2869, 0.2753, 0.2651};

class Spectrum final : public HomogeneousSpectrum {
 public:
  double density(double l) const noexcept override { return sech_pi(l); }
  double best_period(int64_t order) const noexcept override {
    return sampled_period(kPeriods, 0.5, order);
  }
  int64_t most_order() const noexcept override { return kMostOrder; }
};

class AdditiveChi2 final : public HalfLineKernel<AdditiveChi2, Sum> {
 public:
  explicit AdditiveChi2(const Parameters& canonical) : HalfLineKernel(canonical) {}
  const HomogeneousSpectrum* homogeneous() const noexcept override { return &spectrum_; }
  // In this order it neither overflows nor loses digits.
  double term(double x, double y) const noexcept {
    const double least = std::min(x, y), most = std::max(x, y);
    return most == 0 ? 0 : 2 * least / (1 + least / most);
  }

 private:
  Spectrum spectrum_;
};

}  // namespace

KernelEntry additive_chi2_entry() {
  return entry_of<AdditiveChi2>("additive_chi2", "sum_j 2 x_j y_j / (x_j + y_j), inputs >= 0", {},
                                "additive");
}

}  // namespace mercer::kernel
