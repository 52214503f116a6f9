// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j min(x_j, y_j): sqrt(x y) exp(-|t| / 2) of t = log x - log y in each coordinate,
// whose spectrum is (2 / pi) / (1 + 4 l^2) (Vedaldi, Zisserman 2012, table 1).
#include <algorithm>

#include "kernel/homogeneous_kernel.h"

namespace mercer::kernel {
namespace {

// For orders 0 to 12, the periods that minimise the largest error over t, relative to the mean of x
// and y.
constexpr double kIntersectionPeriods[] = {1.1781, 0.9404, 0.8440, 0.7884, 0.7507, 0.7228, 0.7009,
                                           0.6831, 0.6682, 0.6554, 0.6443, 0.6345, 0.6257};

double intersection_density(double l) noexcept {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  return kTwoOverPi / (1 + 4 * l * l);
}

struct Minimum {
  static SampledSpectrum spectrum() { return {intersection_density, kIntersectionPeriods, 0.15}; }
  // No derivative: the kink at x = y is where landmarks meet themselves.
  static double of(double x, double y) noexcept { return std::min(x, y); }
};

}  // namespace

KernelEntry intersection_entry() {
  return homogeneous_entry<Minimum>("intersection", "sum_j min(x_j, y_j), inputs >= 0");
}

}  // namespace mercer::kernel
