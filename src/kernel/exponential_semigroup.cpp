// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = exp(-beta sum_j sqrt(x_j + y_j)) (Yang, Sindhwani, Fan, Avron, Mahoney 2014, random
// Laplace features): E exp(-omega'(x + y)) with independent Levy coordinates of scale beta^2 / 2.
#include <cmath>

#include "kernel/semigroup_kernel.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

/// The distribution function 2 (1 - Phi(x^{-1/2})) inverted: 1/z^2 with Phi(z) = u/2.
double levy_quantile(double u) noexcept {
  const double z = random::normal_quantile(u / 2);
  return 1 / (z * z);
}

class ExponentialSemigroup final
    : public SemigroupKernel<ExponentialSemigroup, Sum, random::fill_levy, levy_quantile> {
 public:
  explicit ExponentialSemigroup(const Parameters& canonical)
      : ExponentialSemigroup(canonical, canonical.number("beta")) {}
  double term(double x, double y) const noexcept { return std::sqrt(x + y); }
  double finish(double roots) const noexcept { return std::exp(-beta_ * roots); }
  // 4 s g'' + 2 g' = beta^2 g, so 4 s g^(n+2) = beta^2 g^(n) - (4 n + 2) g^(n+1), whose terms have
  // one sign. Infinite at 0, as the derivative is.
  double relative_slope(int64_t n, double s) const noexcept {
    double before = 1, now = -0.5 * beta_ / std::sqrt(s);
    for (int64_t m = 0; m + 1 < n; ++m) {
      const double next = (beta_ * beta_ * before - static_cast<double>(4 * m + 2) * now) / (4 * s);
      before = now;
      now = next;
    }
    return now;
  }

 private:
  ExponentialSemigroup(const Parameters& canonical, double beta)
      : SemigroupKernel(canonical, 0.5 * beta * beta), beta_(beta) {}
  double beta_;
};

}  // namespace

KernelEntry exponential_semigroup_entry() {
  return semigroup_entry<ExponentialSemigroup>("exponential_semigroup",
                                               "exp(-beta sum_j sqrt(x_j + y_j)), inputs >= 0",
                                               "beta", "decay: of the roots of sums of inputs");
}

}  // namespace mercer::kernel
