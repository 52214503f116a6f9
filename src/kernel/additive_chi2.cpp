// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j 2 x_j y_j / (x_j + y_j): sqrt(x y) sech(t / 2) of t = log x - log y in each
// coordinate, whose spectrum is sech(pi l) (Vedaldi, Zisserman 2012, table 1).
#include <algorithm>

#include "kernel/homogeneous_kernel.h"

namespace mercer::kernel {
namespace {

// For orders 0 to 12, the periods that minimise the largest error over t, relative to the mean of x
// and y.
constexpr double kChi2Periods[] = {0.8284, 0.5840, 0.4981, 0.4496, 0.4102, 0.3790, 0.3536,
                                   0.3328, 0.3152, 0.3000, 0.2869, 0.2753, 0.2651};

struct HarmonicMean {
  static SampledSpectrum spectrum() { return {sech_pi, kChi2Periods, 0.5}; }
  // Ordered so that it neither overflows nor loses digits.
  static double of(double x, double y) noexcept {
    const double least = std::min(x, y), most = std::max(x, y);
    return most == 0 ? 0 : 2 * least / (1 + least / most);
  }
  // Leibniz' rule of 2 x y times 1/s, s = x + y, leaves, for n = a + b > 1,
  //   2 (-1)^n (n - 2)! / s^{n - 1} (2ab uv - b(b - 1) u^2 - a(a - 1) v^2), u = x/s, v = y/s.
  static double derivative(int64_t a, int64_t b, double x, double y) noexcept {
    const int64_t n = a + b;
    const double most = std::max(x, y), least = std::min(x, y);
    const double large = 1 / (1 + least / most), small = least / most * large;
    const double u = x > y ? large : small, v = x > y ? small : large;
    if (n == 1) return 2 * (a == 1 ? v * v : u * u);
    const auto s = static_cast<double>(a), t = static_cast<double>(b);
    double product = -2 * (2 * s * t * u * v - t * (t - 1) * u * u - s * (s - 1) * v * v);
    for (int64_t i = 1; i < n; ++i)
      product *= -static_cast<double>(std::max<int64_t>(i - 1, 1)) / (x + y);
    return product;
  }
};

}  // namespace

KernelEntry additive_chi2_entry() {
  return homogeneous_entry<HarmonicMean>("additive_chi2",
                                         "sum_j 2 x_j y_j / (x_j + y_j), inputs >= 0");
}

}  // namespace mercer::kernel
