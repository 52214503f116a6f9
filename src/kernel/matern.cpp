// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = 2^{1-nu}/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| (Rasmussen, Williams 2006,
// eq. 4.14); omega is a multivariate t with 2 nu degrees: z / sqrt(g / nu), g ~ Gamma(nu), z ~ N(0,
// I).
//
// Closed forms for nu = 1/2, 3/2, 5/2. Any other nu > 0 by the mixture that the law above stands
// for,
//   k = 1/Gamma(nu) int_0^inf t^{nu-1} exp(-t - u^2/(4t)) dt,
// with t = nu e^y and the trapezoidal rule, which is exact to rounding for such integrands
// (Trefethen, Weideman 2014):
//   k = e^{c(nu)} int exp(-nu (e^y - 1 - y) - ||tau||^2 e^{-y} / 2) dy,  c(nu) = nu log nu - nu -
//   log Gamma(nu).
// All terms are positive and no factor overflows, so it holds for every nu, up to the Gaussian at
// nu -> inf, where K_nu itself is out of range.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/log_gamma.h"
#include "kernel/radial_kernel.h"
#include "random/distributions.h"
#include "random/gamma_quantile.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

class StudentLaw final : public random::Law {
 public:
  explicit StudentLaw(double nu) : nu_(nu), quantile_(nu) {}
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    random::Cursor cursor(stream);
    const double scale = draw_scale(cursor);
    for (double& w : omega) w = random::normal(cursor) / scale;
  }
  bool isotropic() const noexcept override { return true; }
  double radius(const random::Stream& stream, int64_t d) const noexcept override {
    random::Cursor cursor(stream);
    const double scale = draw_scale(cursor);
    return random::chi(cursor, static_cast<double>(d)) / scale;
  }
  double scale_quantile(double u) const noexcept override {
    return 1 / floored(quantile_.upper(u));
  }
  bool is_product() const noexcept override { return false; }
  double density(std::span<const double> omega) const noexcept override {
    double squares = 0;
    for (const double w : omega) squares += w * w;
    const double half = 0.5 * static_cast<double>(omega.size()), degrees = 2 * nu_;
    constexpr double kLogPi = 1.14472988584940017414;
    return random::portable_exp(
        random::portable_log_gamma(nu_ + half) - random::portable_log_gamma(nu_) -
        half * (kLogPi + random::portable_log(degrees)) -
        (nu_ + half) * random::portable_log(1 + squares / degrees));
  }

 private:
  double draw_scale(random::Cursor& cursor) const noexcept {
    return floored(random::gamma(cursor, nu_));
  }
  // The floor keeps frequencies of small nu finite in single precision; at 1e30 every difference
  // between inputs that matters is turned by a random angle already.
  double floored(double g) const noexcept { return std::max(std::sqrt(g / nu_), 1e-30); }

  double nu_;
  random::GammaQuantile quantile_;
};

// c(nu); Stirling's series from 10 on, where its first neglected term is below 1e-15.
double log_normaliser(double nu) {
  if (nu < 10) return nu * std::log(nu) - nu - log_gamma(nu);
  constexpr double kTwoPi = 6.28318530717958647693;
  const double i = 1 / nu;
  const double s = i * i;
  return 0.5 * std::log(nu / kTwoPi) -
         i * (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188))));
}

// e^y - 1 - y given e^y, by its series where that would cancel.
double exp_remainder(double y, double exp_y) noexcept {
  if (std::fabs(y) > 0.3) return exp_y - 1 - y;
  constexpr double kInverseFactorial[] = {
      1.0 / 2,     1.0 / 6,      1.0 / 24,      1.0 / 120,      1.0 / 720,      1.0 / 5040,
      1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  double sum = 0;
  for (int k = 10; k >= 0; --k) sum = sum * y + kInverseFactorial[k];
  return sum * y * y;
}

// The integral above around its peak y*, where nu (e^y - 1) = r^2 e^{-y} / 2. The step, min(0.18,
// 0.55 / sqrt(curvature)), was found by comparing with 40-digit values for nu in [0.01, 1000]: the
// error stays below 3e-14 relative.
double mixture(double nu, double c, double squared) noexcept {
  const double z = 2 * std::sqrt(0.5 * squared) / std::sqrt(nu);  // 2 squared may be infinite
  const double rise = 0.5 * z * (z / (1 + std::hypot(1, z)));     // e^{y*} - 1
  if (!std::isfinite(rise)) return 0;
  const double peak = std::log1p(rise);
  const double curvature = nu * (1 + rise) + 0.5 * squared / (1 + rise);
  const double step = std::min(0.18, 0.55 / std::sqrt(curvature));
  const auto exponent = [=](double y, double exp_y) {
    return -nu * exp_remainder(y, exp_y) - 0.5 * squared / exp_y;
  };
  const double top = exponent(peak, 1 + rise);
  // The value is below the least double; the curvature may be too large for steps from the peak.
  if (top + c < -760) return 0;
  double sum = 1;
  for (const double direction : {step, -step}) {
    const double growth = std::exp(direction);
    double exp_y = 1 + rise;
    for (int i = 1;; ++i) {
      exp_y *= growth;
      const double part = std::exp(exponent(peak + i * direction, exp_y) - top);
      sum += part;
      if (!(part > 1e-17 * sum)) break;
    }
  }
  return std::min(1.0, std::exp(top + c) * (step * sum));
}

constexpr double kLeastNu = 0.01;  // derivatives by mixtures are tested down to this nu

enum class Smoothness { half, three_halves, five_halves, any };

Smoothness form_of(double nu) {
  if (nu == 0.5) return Smoothness::half;
  if (nu == 1.5) return Smoothness::three_halves;
  return nu == 2.5 ? Smoothness::five_halves : Smoothness::any;
}

class Matern final : public RadialKernel<Matern, SpectralKernel<Matern, Sum, StudentLaw>> {
 public:
  explicit Matern(const Parameters& canonical)
      : RadialKernel(canonical, canonical.number("nu")),
        nu_(canonical.number("nu")),
        normaliser_(log_normaliser(nu_)),
        form_(form_of(nu_)) {
    for (int64_t n = 0; form_ == Smoothness::any && n <= most_derivatives(); ++n)
      normalisers_.push_back(log_normaliser(nu_ - static_cast<double>(n)));
  }
  double finish(double squared) const noexcept {
    if (squared == 0) return 1;
    if (std::isinf(squared)) return 0;
    const double u = std::sqrt(2 * nu_ * squared), decay = std::exp(-u);
    switch (form_) {
      case Smoothness::half:
        return decay;
      case Smoothness::three_halves:
        return decay == 0 ? 0 : (1 + u) * decay;  // where u may be infinite
      case Smoothness::five_halves:
        return decay == 0 ? 0 : (1 + u + u * u / 3) * decay;
      case Smoothness::any:
        break;
    }
    return std::isnan(squared) ? squared : mixture(nu_, normaliser_, squared);
  }

  // Matern nu has derivatives below order 2 nu, in s below nu: all that a mixture gives.
  int64_t most_derivatives() const noexcept override {
    switch (form_) {
      case Smoothness::half:
        return 0;
      case Smoothness::three_halves:
        return 2;
      case Smoothness::five_halves:
        return 4;
      case Smoothness::any:
        break;
    }
    return static_cast<int64_t>(
        std::clamp(std::floor(nu_ - kLeastNu), 0.0, 2.0 * double{kMostDerivatives}));
  }
  void slopes(double squared, int64_t count, double* f) const noexcept {
    const double u = std::sqrt(2 * nu_ * squared), decay = std::exp(-u);
    // Infinite factors at 0 are multiplied by higher powers of t.
    const double over_u = u > 1e-100 ? 1 / u : 0;
    f[0] = finish(squared);
    for (int64_t n = 1; n < count; ++n) f[n] = slope(n, squared, u, decay, over_u);
  }

 private:
  // d/ds of 2^{1-nu}/Gamma(nu) u^nu K_nu(u), u^2 = 2 nu s, is -nu/(2 (nu - 1)) times that of nu - 1
  // and the same u.
  double slope(int64_t n, double s, double u, double decay, double over_u) const noexcept {
    if (form_ != Smoothness::any && decay == 0) return 0;  // where u may be infinite
    if (form_ == Smoothness::three_halves) return (n == 1 ? -1.5 : 2.25 * over_u) * decay;
    if (form_ == Smoothness::five_halves) {
      constexpr double kFactors[] = {0, -5.0 / 6, 25.0 / 12, -125.0 / 24, 625.0 / 48};
      const double rest[] = {0, 1 + u, 1, over_u, (1 + u) * over_u * over_u * over_u};
      return kFactors[n] * rest[n] * decay;
    }
    const double least = nu_ - static_cast<double>(n);
    double factor = 1;
    for (int64_t i = 1; i <= n; ++i) factor *= -0.5 * nu_ / (nu_ - static_cast<double>(i));
    if (s == 0 || std::isnan(s)) return s == 0 ? factor : s;
    if (std::isinf(s)) return 0;
    return factor * mixture(least, normalisers_[n], s * (nu_ / least));
  }

  double nu_;
  double normaliser_;
  std::vector<double> normalisers_;  // of nu, nu - 1, ...
  Smoothness form_;
};

}  // namespace

KernelEntry matern_entry() {
  return entry_of<Matern>(
      "matern", "2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| / l",
      {positive_field("nu", 1.5, "smoothness; 0.5 is exp(-||tau||/l), large near the Gaussian"),
       lengthscale_field()});
}

}  // namespace mercer::kernel
