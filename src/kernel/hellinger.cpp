// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_j sqrt(x_j y_j), the Bhattacharyya coefficient: the inner product of the roots.
#include <cmath>

#include "kernel/half_line_kernel.h"

namespace mercer::kernel {
namespace {

class Spectrum final : public HomogeneousSpectrum {
 public:
  // All of it at 0.
  double density(double l) const noexcept override { return l == 0 ? 1 : 0; }
  double best_period(int64_t) const noexcept override { return 1; }
  int64_t most_order() const noexcept override { return 0; }
};

class Hellinger final : public HalfLineKernel<Hellinger, Sum> {
 public:
  explicit Hellinger(const Parameters& canonical) : HalfLineKernel(canonical) {}
  const HomogeneousSpectrum* homogeneous() const noexcept override { return &spectrum_; }
  double term(double x, double y) const noexcept { return std::sqrt(x) * std::sqrt(y); }

 private:
  Spectrum spectrum_;
};

}  // namespace

KernelEntry hellinger_entry() {
  return entry_of<Hellinger>("hellinger", "sum_j sqrt(x_j y_j), inputs >= 0", {}, "additive");
}

}  // namespace mercer::kernel
