// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = prod_j lambda / (x_j + y_j + lambda) (Yang, Sindhwani, Fan, Avron, Mahoney 2014, random
// Laplace features): E exp(-omega'(x + y)) with independent exponential coordinates of that rate.
#include "kernel/semigroup_kernel.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

/// Quantile at 1 - u, which is uniform as well and keeps the digits of small u.
double exponential_quantile(double u) noexcept { return -random::portable_log(u); }

class ReciprocalSemigroup final
    : public SemigroupKernel<ReciprocalSemigroup, Product, random::fill_exponential,
                             exponential_quantile> {
 public:
  explicit ReciprocalSemigroup(const Parameters& canonical)
      : SemigroupKernel(canonical, 1 / canonical.number("lambda")),
        inverse_(1 / canonical.number("lambda")) {}
  // The product of the denominators: where it overflows the kernel is below 1e-308.
  double term(double x, double y) const noexcept { return 1 + (x + y) * inverse_; }
  double finish(double denominator) const noexcept { return 1 / denominator; }
  double relative_slope(int64_t n, double s) const noexcept {
    double product = 1;
    for (int64_t m = 1; m <= n; ++m)
      product *= -static_cast<double>(m) * inverse_ / (1 + s * inverse_);
    return product;
  }

 private:
  double inverse_;
};

}  // namespace

KernelEntry reciprocal_semigroup_entry() {
  return semigroup_entry<ReciprocalSemigroup>(
      "reciprocal_semigroup", "prod_j lambda / (x_j + y_j + lambda), inputs >= 0", "lambda",
      "the sum of two inputs that halves the kernel");
}

}  // namespace mercer::kernel
