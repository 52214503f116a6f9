// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = (1 + ||tau||^2 / (2 alpha))^{-alpha} (Rasmussen, Williams 2006, eq. 4.19), a mixture of
// Gaussians over the precision: omega = sqrt(s) z, s ~ Gamma(alpha, rate alpha), z ~ N(0, I).
#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "kernel/radial_kernel.h"
#include "random/distributions.h"
#include "random/gamma_quantile.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

class GammaMixtureLaw final : public random::Law {
 public:
  explicit GammaMixtureLaw(double alpha) : alpha_(alpha), quantile_(alpha) {}
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::Cursor cursor(stream);
    const double scale = draw_scale(cursor);
    for (double& w : omega) w = scale * random::normal(cursor);
  }
  bool isotropic() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    random::Cursor cursor(stream);
    const double scale = draw_scale(cursor);
    return scale * random::chi(cursor, static_cast<double>(d));
  }
  double scale_quantile(double u) const noexcept override {
    return std::sqrt(quantile_.lower(u) / alpha_);
  }
  bool is_product() const noexcept override { return false; }
  // alpha^alpha / (Gamma(alpha) (2 pi)^{d/2}) int exp(a y - alpha e^y - b e^{-y}) dy, s = e^y, by
  // the trapezoidal rule around its peak, which is exact to rounding (kernel/matern.cpp).
  double density(std::span<const double> omega) const noexcept override {
    double b = 0;
    for (const double w : omega) b += 0.5 * w * w;
    const double half = 0.5 * static_cast<double>(omega.size()), a = alpha_ - half;
    if (b == 0 && a <= 0) return kInfinity;
    constexpr double kLogTwoPi = 1.83787706640934548356;
    return mixture(a, b,
                   alpha_ * random::portable_log(alpha_) - random::portable_log_gamma(alpha_) -
                       half * kLogTwoPi);
  }

 private:
  // e^c times the integral.
  double mixture(double a, double b, double c) const noexcept {
    const double root = std::sqrt(a * a + 4 * alpha_ * b);
    const double peak = a > 0 ? (a + root) / (2 * alpha_) : 2 * b / (root - a);  // e^y
    const double peak_y = random::portable_log(peak);
    const double step = std::min(0.18, 0.55 / std::sqrt(alpha_ * peak + b / peak));
    const auto exponent = [&](double y, double s) { return a * y - alpha_ * s - b / s; };
    const double top = exponent(peak_y, peak);
    double sum = 1;
    for (const double direction : {step, -step}) {
      const double growth = random::portable_exp(direction);
      double s = peak;
      for (int i = 1;; ++i) {
        s *= growth;
        const double part = random::portable_exp(exponent(peak_y + i * direction, s) - top);
        sum += part;
        if (!(part > 1e-17 * sum)) break;
      }
    }
    return random::portable_exp(top + c) * (step * sum);
  }
  double draw_scale(random::Cursor& cursor) const noexcept {
    return std::sqrt(random::gamma(cursor, alpha_) / alpha_);
  }
  double alpha_;
  random::GammaQuantile quantile_;
};

class RationalQuadratic final
    : public RadialKernel<RationalQuadratic,
                          SpectralKernel<RationalQuadratic, Sum, GammaMixtureLaw>> {
 public:
  explicit RationalQuadratic(const Parameters& canonical)
      : RadialKernel(canonical, canonical.number("alpha")), alpha_(canonical.number("alpha")) {}
  // log1p keeps the limit of large alpha, which is the Gaussian, exact.
  double finish(double squared) const noexcept {
    return std::exp(-alpha_ * std::log1p(0.5 * squared / alpha_));
  }
  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  void slopes(double squared, int64_t count, double* f) const noexcept {
    f[0] = finish(squared);
    for (int64_t n = 1; n < count; ++n)
      f[n] = -f[n - 1] * ((alpha_ + static_cast<double>(n - 1)) / (2 * alpha_ + squared));
  }

 private:
  double alpha_;
};

}  // namespace

KernelEntry rational_quadratic_entry() {
  return entry_of<RationalQuadratic>(
      "rational_quadratic", "(1 + ||tau||^2 / (2 alpha l^2))^(-alpha)",
      {positive_field("alpha", 1.0, "tail exponent; infinity is the Gaussian"),
       lengthscale_field()});
}

}  // namespace mercer::kernel
