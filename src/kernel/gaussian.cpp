// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = exp(-||tau||^2 / 2); omega ~ N(0, I) (Rahimi, Recht 2007, figure 1).
#include <cmath>
#include <utility>

#include "kernel/coordinate_kernel.h"
#include "kernel/domain.h"

namespace mercer::kernel {
namespace {

class Gaussian final : public CoordinateKernel<Gaussian, Sum> {
 public:
  Gaussian(std::vector<double> lengthscale, double variance)
      : CoordinateKernel(variance, std::move(lengthscale)) {}
  std::string_view name() const noexcept override { return "gaussian"; }
  const random::Law* spectral_law() const noexcept override { return law_.get(); }

  void add_own(Parameters&) const {}
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return t * t;
  }
  double finish(double squared) const noexcept { return std::exp(-0.5 * squared); }

 private:
  std::shared_ptr<const random::Law> law_ = random::normal_law();
};

}  // namespace

std::unique_ptr<Kernel> make_gaussian(std::vector<double> lengthscale, double variance) {
  return std::make_unique<Gaussian>(checked_lengthscale(std::move(lengthscale)), variance);
}

}  // namespace mercer::kernel
