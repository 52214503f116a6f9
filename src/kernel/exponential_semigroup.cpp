// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = exp(-beta sum_j sqrt(x_j + y_j)) (Yang, Sindhwani, Fan, Avron, Mahoney 2014, random
// Laplace features): E exp(-omega'(x + y)) with independent Levy coordinates of scale beta^2 / 2.
#include <cmath>

#include "kernel/half_line_kernel.h"
#include "kernel/laplace_law.h"
#include "random/distributions.h"

namespace mercer::kernel {
namespace {

class ExponentialSemigroup final : public HalfLineKernel<ExponentialSemigroup, Sum> {
 public:
  explicit ExponentialSemigroup(const Parameters& canonical)
      : HalfLineKernel(canonical), beta_(canonical.number("beta")), law_(0.5 * beta_ * beta_) {}
  const random::Law* laplace_law() const noexcept override { return &law_; }
  double term(double x, double y) const noexcept { return std::sqrt(x + y); }
  double finish(double roots) const noexcept { return std::exp(-beta_ * roots); }

 private:
  double beta_;
  LaplaceLaw<random::fill_levy> law_;
};

}  // namespace

KernelEntry exponential_semigroup_entry() {
  return entry_of<ExponentialSemigroup>(
      "exponential_semigroup", "exp(-beta sum_j sqrt(x_j + y_j)), inputs >= 0",
      {semigroup_field("beta", "decay: of the roots of sums of inputs")}, "laplace");
}

}  // namespace mercer::kernel
