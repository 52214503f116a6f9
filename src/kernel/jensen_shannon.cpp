// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), whose spectrum is
// (2 / log 4) sech(pi l) / (1 + 4 l^2) (Vedaldi, Zisserman 2012, table 1).
#include <algorithm>
#include <cmath>

#include "kernel/homogeneous_kernel.h"

namespace mercer::kernel {
namespace {

constexpr double kInverseLog4 = 0.72134752044448170368;  // 1 / (2 log 2)

// For orders 0 to 12, the periods that minimise the largest error over t, relative to the mean of x
// and y.
constexpr double kShannonPeriods[] = {0.6172, 0.4355, 0.3603, 0.3209, 0.2970, 0.2777, 0.2618,
                                      0.2486, 0.2373, 0.2275, 0.2190, 0.2114, 0.2046};

double shannon_density(double l) noexcept {
  return 2 * kInverseLog4 * sech_pi(l) / (1 + 4 * l * l);
}

// log(1 + y/x), also where the quotient overflows.
double log_share(double x, double y) noexcept {
  const double quotient = y / x;
  return std::isinf(quotient) ? std::log(y) - std::log(x) : std::log1p(quotient);
}
// x log(1 + y/x), 0 at x = 0.
double share(double x, double y) noexcept { return x == 0 ? 0 : x * log_share(x, y); }

struct Shares {
  static SampledSpectrum spectrum() { return {shannon_density, kShannonPeriods, 0.5}; }
  static double of(double x, double y) noexcept {
    return kInverseLog4 * (share(x, y) + share(y, x));
  }
  // Derivatives of (x + y) log(x + y) - x log x - y log y: in x alone log((x + y)/x), then
  // differences of powers of 1/(x + y) and 1/x; in both, powers of 1/(x + y). Infinite at x = 0 <
  // y, as is the derivative itself.
  static double derivative(int64_t a, int64_t b, double x, double y) noexcept {
    if (a == 0) return derivative(b, a, y, x);
    const int64_t m = a + b - 1;
    if (m == 0) return kInverseLog4 * log_share(x, y);
    double product = m % 2 == 0 ? -kInverseLog4 : kInverseLog4;  // (m - 1)! over x^m or (x + y)^m
    for (int64_t i = 1; i <= m; ++i)
      product *= static_cast<double>(std::max<int64_t>(i - 1, 1)) / (b == 0 ? x : x + y);
    return b == 0 ? product * std::expm1(-static_cast<double>(m) * log_share(x, y)) : product;
  }
};

}  // namespace

KernelEntry jensen_shannon_entry() {
  return homogeneous_entry<Shares>(
      "jensen_shannon",
      "sum_j (x_j/2) log2((x_j + y_j)/x_j) + (y_j/2) log2((x_j + y_j)/y_j), inputs >= 0");
}

}  // namespace mercer::kernel
