// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), whose spectrum is
// (2 / log 4) sech(pi l) / (1 + 4 l^2) (Vedaldi, Zisserman 2012, table 1).
#include <cmath>

#include "kernel/homogeneous_kernel.h"

namespace mercer::kernel {
namespace {

constexpr double kInverseLog4 = 0.72134752044448170368;  // 1 / (2 log 2)

// Of orders 0 to 12: what minimises the largest error over t, in units of the mean of x and y.
constexpr double kPeriods[] = {0.6172, 0.4355, 0.3603, 0.3209, 0.2970, 0.2777, 0.2618,
                               0.2486, 0.2373, 0.2275, 0.2190, 0.2114, 0.2046};

double density(double l) noexcept { return 2 * kInverseLog4 * sech_pi(l) / (1 + 4 * l * l); }

// x log(1 + y/x), 0 at x = 0. A quotient that overflows is its logarithm's business no more.
double share(double x, double y) noexcept {
  if (x == 0) return 0;
  const double quotient = y / x;
  return x * (std::isinf(quotient) ? std::log(y) - std::log(x) : std::log1p(quotient));
}

struct Shares {
  static SampledSpectrum spectrum() { return {density, kPeriods, 0.5}; }
  static double of(double x, double y) noexcept {
    return kInverseLog4 * (share(x, y) + share(y, x));
  }
};

}  // namespace

KernelEntry jensen_shannon_entry() {
  return homogeneous_entry<Shares>(
      "jensen_shannon",
      "sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), inputs >= 0");
}

}  // namespace mercer::kernel
