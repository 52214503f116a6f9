// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = exp(-||tau||^2 / 2); omega ~ N(0, I) (Rahimi, Recht 2007, figure 1). Its derivatives are
// Hermite polynomials times itself: d^n/dt^n exp(-t^2/2) = (-1)^n He_n(t) exp(-t^2/2).
#include <cmath>

#include "kernel/exponential_series.h"
#include "kernel/radial_kernel.h"

namespace mercer::kernel {
namespace {

// He_n(t), by He_{n+1} = t He_n - n He_{n-1}.
double hermite(int64_t n, double t) noexcept {
  double before = 0, now = 1;
  for (int64_t m = 0; m < n; ++m) {
    const double next = t * now - static_cast<double>(m) * before;
    before = now;
    now = next;
  }
  return now;
}

class Gaussian final : public RadialKernel<Gaussian> {
 public:
  explicit Gaussian(const Parameters& canonical)
      : RadialKernel(canonical), series_(variance(), 1) {}
  const random::Law* spectral_law() const noexcept override { return law_.get(); }
  bool is_gaussian() const noexcept override { return true; }
  const PowerSeries* series() const noexcept override { return &series_; }
  double finish(double squared) const noexcept { return std::exp(log_finish(squared)); }
  double log_finish(double squared) const noexcept { return -0.5 * squared; }
  void slopes(double squared, int64_t count, double* f) const noexcept {
    f[0] = finish(squared);
    for (int64_t n = 1; n < count; ++n) f[n] = -0.5 * f[n - 1];
  }

  std::optional<EvenPowerSpectrum> even_power_spectrum() const noexcept override {
    return EvenPowerSpectrum{1, 1.4142135623730950488};
  }
  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  // Uses a recursion that keeps the digits of high orders.
  double derivative(const MultiIndex& order, int64_t d, const double* x,
                    const double* y) const noexcept override {
    double product = value(d, x, y);
    if (product == 0) return 0;  // times any polynomial it is 0, too
    for (const PartialFactor& factor : order) {
      const auto k = static_cast<size_t>(factor.input);
      const double l = lengthscale()[lengthscale().size() == 1 ? 0 : k];
      const double polynomial = hermite(factor.order, (x[k] - y[k]) / l);
      if (polynomial == 0) return std::isnan(product) ? product : 0;
      product *= polynomial;
      for (int64_t n = 0; n < factor.order; ++n) product /= -l;
    }
    return product;
  }

 private:
  std::shared_ptr<const random::Law> law_ = random::normal_law();
  ExponentialSeries series_;
};

}  // namespace

KernelEntry gaussian_entry() {
  return entry_of<Gaussian>("gaussian", "exp(-||tau||^2 / (2 l^2))", {lengthscale_field()});
}

}  // namespace mercer::kernel
