// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = exp(-||tau||^2 / 2); omega ~ N(0, I) (Rahimi, Recht 2007, figure 1).
#include <cmath>
#include <utility>

#include "kernel/coordinate_kernel.h"
#include "kernel/domain.h"
#include "random/distributions.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

class GaussianLaw final : public SpectralLaw {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::fill_normal(stream, 0, omega);
  }
  bool isotropic() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    random::Cursor cursor(stream);
    return random::chi(cursor, static_cast<double>(d));
  }
  bool is_product() const noexcept override { return true; }
  double quantile(double u) const noexcept override { return random::normal_quantile(u); }
};

class Gaussian final : public CoordinateKernel<Gaussian, Sum> {
 public:
  Gaussian(std::vector<double> lengthscale, double variance)
      : CoordinateKernel(variance, std::move(lengthscale)) {}
  std::string_view name() const noexcept override { return "gaussian"; }
  const SpectralLaw* spectral_law() const noexcept override { return &law_; }

  void add_own(Parameters&) const {}
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return t * t;
  }
  double finish(double squared) const noexcept { return std::exp(-0.5 * squared); }

 private:
  GaussianLaw law_;
};

}  // namespace

std::unique_ptr<Kernel> make_gaussian(std::vector<double> lengthscale, double variance) {
  return std::make_unique<Gaussian>(checked_lengthscale(std::move(lengthscale)), variance);
}

}  // namespace mercer::kernel
