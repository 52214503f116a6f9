// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = prod_j lambda / (x_j + y_j + lambda) (Yang, Sindhwani, Fan, Avron, Mahoney 2014, random
// Laplace features): E exp(-omega'(x + y)) with independent exponential coordinates of that rate.
#include "kernel/half_line_kernel.h"
#include "kernel/laplace_law.h"
#include "random/distributions.h"

namespace mercer::kernel {
namespace {

class ReciprocalSemigroup final : public HalfLineKernel<ReciprocalSemigroup, Product> {
 public:
  explicit ReciprocalSemigroup(const Parameters& canonical)
      : HalfLineKernel(canonical), inverse_(1 / canonical.number("lambda")), law_(inverse_) {}
  const random::Law* laplace_law() const noexcept override { return &law_; }
  // The product of the denominators: where it overflows the kernel is below 1e-308.
  double term(double x, double y) const noexcept { return 1 + (x + y) * inverse_; }
  double finish(double denominator) const noexcept { return 1 / denominator; }

 private:
  double inverse_;
  LaplaceLaw<random::fill_exponential> law_;
};

}  // namespace

KernelEntry reciprocal_semigroup_entry() {
  return entry_of<ReciprocalSemigroup>(
      "reciprocal_semigroup", "prod_j lambda / (x_j + y_j + lambda), inputs >= 0",
      {semigroup_field("lambda", "the sum of two inputs that halves the kernel")}, "laplace");
}

}  // namespace mercer::kernel
