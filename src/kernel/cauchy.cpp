// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = prod_j 1 / (1 + tau_j^2); omega has independent Laplace coordinates (Rahimi, Recht 2007,
// figure 1).

#include "kernel/coordinate_kernel.h"
#include "kernel/coordinate_law.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

class LaplaceLaw final : public CoordinateLaw<random::fill_laplace> {
 public:
  double quantile(double u) const noexcept override {
    return u < 0.5 ? random::portable_log(2 * u) : -random::portable_log(2 * (1 - u));
  }
};

class Cauchy final : public SpectralKernel<Cauchy, Product, LaplaceLaw> {
 public:
  explicit Cauchy(const Parameters& canonical) : SpectralKernel(canonical) {}
  // The product of the denominators: one division per pair, and where it overflows the kernel is
  // below 1e-308.
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return 1 + t * t;
  }
  double finish(double denominator) const noexcept { return 1 / denominator; }
};

}  // namespace

KernelEntry cauchy_entry() {
  return entry_of<Cauchy>("cauchy", "prod_j 1 / (1 + tau_j^2 / l^2)", {lengthscale_field()});
}

}  // namespace mercer::kernel
