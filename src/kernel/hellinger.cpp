// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j sqrt(x_j y_j), the Bhattacharyya coefficient: the inner product of the roots.
#include <cmath>

#include "kernel/homogeneous_kernel.h"

namespace mercer::kernel {
namespace {

// All of it at 0.
class Spectrum final : public HomogeneousSpectrum {
 public:
  double density(double l) const noexcept override { return l == 0 ? 1 : 0; }
  double best_period(int64_t) const noexcept override { return 1; }
  int64_t most_order() const noexcept override { return 0; }
};

struct Roots {
  static Spectrum spectrum() { return {}; }
  static double of(double x, double y) noexcept { return std::sqrt(x) * std::sqrt(y); }
};

}  // namespace

KernelEntry hellinger_entry() {
  return homogeneous_entry<Roots>("hellinger", "sum_j sqrt(x_j y_j), inputs >= 0");
}

}  // namespace mercer::kernel
