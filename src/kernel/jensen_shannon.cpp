// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), whose spectrum is
// (2 / log 4) sech(pi l) / (1 + 4 l^2) (Vedaldi, Zisserman 2012, table 1).
#include <cmath>

#include "kernel/half_line_kernel.h"
#include "kernel/sampled_spectrum.h"

namespace mercer::kernel {
namespace {

constexpr double kInverseLog4 = 0.72134752044448170368;  // 1 / (2 log 2)

// x log(1 + y/x), 0 at x = 0. A quotient that overflows is its logarithm's business no more.
double share(double x, double y) noexcept {
  if (x == 0) return 0;
  const double quotient = y / x;
  return x * (std::isinf(quotient) ? std::log(y) - std::log(x) : std::log1p(quotient));
}

// Of orders 0 to 12: what minimises the largest error over t, in units of the mean of x and y.
constexpr double kPeriods[] = {0.6172, 0.4355, 0.3603, 0.3209, 0.2970, 0.2777, 0.2618,
                               0.2486, 0.2373, 0.2275, 0.2190, 0.2114, 0.2046};

class Spectrum final : public HomogeneousSpectrum {
 public:
  double density(double l) const noexcept override {
    return 2 * kInverseLog4 * sech_pi(l) / (1 + 4 * l * l);
  }
  double best_period(int64_t order) const noexcept override {
    return sampled_period(kPeriods, 0.5, order);
  }
  int64_t most_order() const noexcept override { return kMostOrder; }
};

class JensenShannon final : public HalfLineKernel<JensenShannon, Sum> {
 public:
  explicit JensenShannon(const Parameters& canonical) : HalfLineKernel(canonical) {}
  const HomogeneousSpectrum* homogeneous() const noexcept override { return &spectrum_; }
  double term(double x, double y) const noexcept {
    return kInverseLog4 * (share(x, y) + share(y, x));
  }

 private:
  Spectrum spectrum_;
};

}  // namespace

KernelEntry jensen_shannon_entry() {
  return entry_of<JensenShannon>(
      "jensen_shannon",
      "sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), inputs >= 0", {},
      "additive");
}

}  // namespace mercer::kernel
