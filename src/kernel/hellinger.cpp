// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j sqrt(x_j y_j), the Bhattacharyya coefficient: the inner product of the roots.
#include <cmath>

#include "kernel/homogeneous_kernel.h"

namespace mercer::kernel {
namespace {

// The whole spectrum is at 0.
class Spectrum final : public HomogeneousSpectrum {
 public:
  double density(double l) const noexcept override { return l == 0 ? 1 : 0; }
  double best_period(int64_t) const noexcept override { return 1; }
  int64_t most_order() const noexcept override { return 0; }
};

struct Roots {
  static Spectrum spectrum() { return {}; }
  static double of(double x, double y) noexcept { return std::sqrt(x) * std::sqrt(y); }
  // Infinite at x = 0 < y, as is the derivative itself.
  static double derivative(int64_t a, int64_t b, double x, double y) noexcept {
    return of_root(a, x) * of_root(b, y);
  }

 private:
  static double of_root(int64_t order, double x) noexcept {
    if (order == 0) return std::sqrt(x);
    double product = 0.5 / std::sqrt(x);
    for (int64_t i = 1; i < order; ++i) product *= (0.5 - static_cast<double>(i)) / x;
    return product;
  }
};

}  // namespace

KernelEntry hellinger_entry() {
  return homogeneous_entry<Roots>("hellinger", "sum_j sqrt(x_j y_j), inputs >= 0");
}

}  // namespace mercer::kernel
