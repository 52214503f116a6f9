// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = prod_j 1 / (1 + tau_j^2); omega has independent Laplace coordinates (Rahimi, Recht 2007,
// figure 1).

#include "kernel/coordinate_kernel.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

class LaplaceLaw final : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::fill_laplace(stream, 0, omega);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override {
    return u < 0.5 ? random::portable_log(2 * u) : -random::portable_log(2 * (1 - u));
  }
};

class Cauchy final : public CoordinateKernel<Cauchy, Product> {
 public:
  explicit Cauchy(const Parameters& canonical) : CoordinateKernel(canonical) {}
  const random::Law* spectral_law() const noexcept override { return &law_; }
  // The product of the denominators: one division per pair, and where it overflows the kernel is
  // below 1e-308.
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return 1 + t * t;
  }
  double finish(double denominator) const noexcept { return 1 / denominator; }

 private:
  LaplaceLaw law_;
};

}  // namespace

KernelEntry cauchy_entry() {
  return {.name = "cauchy",
          .help = "prod_j 1 / (1 + tau_j^2 / l^2)",
          .fields = {lengthscale_field()},
          .make = made<Cauchy>};
}

}  // namespace mercer::kernel
