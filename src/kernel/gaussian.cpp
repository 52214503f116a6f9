// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = exp(-||tau||^2 / 2); omega ~ N(0, I) (Rahimi, Recht 2007, figure 1).
#include <cmath>

#include "kernel/coordinate_kernel.h"

namespace mercer::kernel {
namespace {

class Gaussian final : public CoordinateKernel<Gaussian, Sum> {
 public:
  explicit Gaussian(const Parameters& canonical) : CoordinateKernel(canonical) {}
  const random::Law* spectral_law() const noexcept override { return law_.get(); }
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return t * t;
  }
  double finish(double squared) const noexcept { return std::exp(-0.5 * squared); }

 private:
  std::shared_ptr<const random::Law> law_ = random::normal_law();
};

}  // namespace

KernelEntry gaussian_entry() {
  return entry_of<Gaussian>("gaussian", "exp(-||tau||^2 / (2 l^2))", {lengthscale_field()});
}

}  // namespace mercer::kernel
