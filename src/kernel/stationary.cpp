// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The kernels gaussian, laplacian, cauchy, matern, rational_quadratic and, of logarithms,
// skewed_chi2.
#include "kernel/stationary.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "base/numbers.h"
#include "kernel/entry.h"
#include "kernel/inner_product.h"
#include "random/distributions.h"
#include "random/scalar_math.h"
#include "transform/exponential_epilogue.h"

namespace mercer::kernel {

void fill_distances(void (*add)(const transform::DifferenceCall&) noexcept,
                    std::span<const double> scales, MatrixView<const double> X,
                    MatrixView<const double> Y, MatrixView<double> K) noexcept {
  constexpr int64_t kRows = 64, kInputs = 32;
  double tile[kInputs * kRows], scale[kInputs];
  for (int64_t i = 0; i < K.rows; ++i) std::fill_n(K.row(i), K.cols, 0.0);
  for (int64_t j0 = 0; j0 < Y.rows; j0 += kRows) {
    const int64_t n = std::min(kRows, Y.rows - j0);
    for (int64_t k0 = 0; k0 < X.cols; k0 += kInputs) {
      const int64_t d = std::min(kInputs, X.cols - k0);
      for (int64_t k = 0; k < d; ++k) scale[k] = scales[scales.size() > 1 ? k0 + k : 0];
      for (int64_t j = 0; j < n; ++j)
        for (int64_t k = 0; k < d; ++k) tile[k * kRows + j] = Y(j0 + j, k0 + k);
      for (int64_t i = 0; i < X.rows; ++i)
        add({X.row(i) + k0, scale, d, tile, kRows, n, K.row(i) + j0});
    }
  }
}

namespace {

// k(tau) = exp(-||tau||^2 / 2); omega ~ N(0, I) (Rahimi, Recht 2007, figure 1). Its derivatives are
// Hermite polynomials times itself: d^n/dt^n exp(-t^2/2) = (-1)^n He_n(t) exp(-t^2/2).

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
  explicit Gaussian(const Parameters& canonical) : RadialKernel(canonical), series_(variance(), 1) {
    traits_.is_gaussian = true;
    traits_.even_power_spectrum = {1, 1.4142135623730950488};
  }
  const random::Law* spectral_law() const noexcept override { return law_.get(); }
  const PowerSeries* series() const noexcept override { return &series_; }
  double finish(double squared) const noexcept { return std::exp(log_finish(squared)); }
  double log_finish(double squared) const noexcept { return -0.5 * squared; }
  void slopes(double squared, int64_t count, double* f) const noexcept {
    f[0] = finish(squared);
    for (int64_t n = 1; n < count; ++n) f[n] = -0.5 * f[n - 1];
  }

  bool take_values(std::span<double> s, std::span<double> slopes) const noexcept {
    transform::exp_row(s.data(), std::ssize(s), -0.5, 0, variance(), s.data());
    for (size_t i = 0; i < slopes.size(); ++i) slopes[i] = -0.5 * s[i];
    return true;
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

// k(tau) = exp(-||tau||_1); omega has independent Cauchy coordinates (Rahimi, Recht 2007, figure
// 1). Of widths of density w exp(-w), int w exp(-w) max(0, 1 - t/w) dw = exp(-t).
class CauchyLaw final : public CoordinateLaw<random::fill_cauchy> {
 public:
  // tan(pi (u - 1/2)); in the tails through u and 1 - u themselves, where u - 1/2 would round.
  double quantile(double u) const noexcept override {
    if (u < 0.25) return -1 / random::portable_tan_half_turns(u);
    if (u > 0.75) return 1 / random::portable_tan_half_turns(1 - u);
    return random::portable_tan_half_turns(u - 0.5);
  }
  double density(std::span<const double> omega) const noexcept override {
    double product = 1;
    for (const double w : omega) product *= 0.31830988618379067154 / (1 + w * w);  // 1/pi
    return product;
  }
};

/// Draws w of density w exp(-w), the sum of two exponential numbers (Rahimi, Recht 2007, section
/// 4).
class BinWidthLaw final : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> widths) const noexcept override {
    random::Cursor cursor(stream);
    for (double& w : widths) {
      const random::Words words = cursor.next();
      w = -random::portable_log(random::uniform(words)) -
          random::portable_log(random::second_uniform(words));
    }
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }  // not symmetric about 0
};

class Laplacian final : public SpectralKernel<Laplacian, Sum, CauchyLaw> {
 public:
  explicit Laplacian(const Parameters& canonical) : SpectralKernel(canonical) {
    traits_.falls_with_magnitudes = true;
    traits_.bin_width_law = &widths_;
  }
  double term(double x, double y, double scale) const noexcept {
    return std::fabs((x - y) * scale);
  }
  double finish(double norm) const noexcept { return std::exp(log_finish(norm)); }
  double log_finish(double norm) const noexcept { return -norm; }
  void compute(MatrixView<const double> X, MatrixView<const double> Y,
               MatrixView<double> K) const override {
    fill_distances(transform::add_absolute_differences, inverses(), X, Y, K);
    for (int64_t i = 0; i < K.rows; ++i)
      transform::exp_row(K.row(i), K.cols, -1, 0, variance(), K.row(i));
  }
  bool take_slopes(std::span<double> norms, std::span<double> slopes) const noexcept override {
    transform::exp_row(norms.data(), std::ssize(norms), -1, 0, variance(), norms.data());
    for (size_t i = 0; i < slopes.size(); ++i) slopes[i] = -norms[i];
    return true;
  }

 private:
  BinWidthLaw widths_;
};

// k(tau) = prod_j 1 / (1 + tau_j^2); omega has independent Laplace coordinates (Rahimi, Recht 2007,
// figure 1).
class LaplaceFrequencies final : public CoordinateLaw<random::fill_laplace> {
 public:
  double quantile(double u) const noexcept override {
    return u < 0.5 ? random::portable_log(2 * u) : -random::portable_log(2 * (1 - u));
  }
  double density(std::span<const double> omega) const noexcept override {
    double sum = 0, factor = 1;
    for (const double w : omega) {
      sum += std::fabs(w);
      factor *= 0.5;
    }
    return factor * random::portable_exp(-sum);
  }
};

class Cauchy final : public SpectralKernel<Cauchy, Product, LaplaceFrequencies> {
 public:
  explicit Cauchy(const Parameters& canonical) : SpectralKernel(canonical) {}
  // The product of the denominators: one division per pair, and where it overflows the kernel is
  // below 1e-308.
  double term(double x, double y, double scale) const noexcept {
    const double t = (x - y) * scale;
    return 1 + t * t;
  }
  double finish(double denominator) const noexcept { return 1 / denominator; }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  // 1/(1 + (t + h)^2) = sum_n c_n h^n: (1 + t^2) c_n + 2 t c_{n-1} + c_{n-2} = 0.
  double derivative(const MultiIndex& order, int64_t d, const double* x,
                    const double* y) const noexcept override {
    double product = value(d, x, y);
    if (product == 0) return 0;
    for (const PartialFactor& one : order) {
      const double l = inverse(one.input), t = (x[one.input] - y[one.input]) * l;
      double before = 0, now = 1;  // of the factor itself
      for (int64_t n = 1; n <= one.order; ++n) {
        const double next = -(2 * t * now + before) / (1 + t * t);
        // n! and the n-th power of 1/l are multiplied in step by step.
        before = now * (static_cast<double>(n) * l);
        now = next * (static_cast<double>(n) * l);
      }
      product *= now;
    }
    return product;
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const double k = factor * value(d, x, y);
    if (k == 0) return;
    for (int64_t j = 0; j < d; ++j) {
      const double t = (x[j] - y[j]) * inverse(j);
      out[j] -= k * (2 * t / (1 + t * t)) * inverse(j);
    }
  }
};

// k(tau) = (1 + ||tau||^2 / (2 alpha))^{-alpha} (Rasmussen, Williams 2006, eq. 4.19), a mixture of
// Gaussians over the precision: omega = sqrt(s) z, s ~ Gamma(alpha, rate alpha), z ~ N(0, I).
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
  // the trapezoidal rule around its peak, which is exact to rounding (as of Matern).
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

// k(x, y) = prod_j 2 sqrt(x_j + c_j) sqrt(y_j + c_j) / (x_j + y_j + 2 c_j) for inputs > -c_j (Li,
// Ionescu, Sminchisescu 2010): prod_j sech(t_j / 2) of t_j = log(x_j + c_j) - log(y_j + c_j); omega
// has independent coordinates of density sech(pi w).
class SechLaw final : public CoordinateLaw<random::fill_sech> {
 public:
  // log(tan(pi u / 2)) / pi, the upper half by symmetry because tan is steep there.
  double quantile(double u) const noexcept override {
    return u < 0.5 ? kInversePi * log_tan(u) : -kInversePi * log_tan(1 - u);
  }

 private:
  static double log_tan(double u) noexcept {
    return random::portable_log(random::portable_tan_half_turns(0.5 * u));
  }
};

class SkewedChi2 final : public SpectralKernel<SkewedChi2, Product, SechLaw> {
 public:
  explicit SkewedChi2(const Parameters& canonical)
      : SpectralKernel(canonical), c_(canonical.numbers("c")) {
    traits_.input_bound = {-std::ranges::max(c_), true};
    if (c_.size() == 1) return;
    traits_.only_inputs = std::ssize(c_);
    for (const double c : c_) traits_.input_bound->each.push_back(-c);
  }
  std::shared_ptr<const transform::RowPrologue> prologue() const override {
    return transform::log_shift_prologue(c_);
  }
  // scale is the multiple of the warped difference.
  double term(double x, double y, double scale, int64_t j) const noexcept {
    const double a = x + c(j), b = y + c(j);
    if (!(a > 0 && b > 0)) return kNaN;
    if (scale == 1) return std::sqrt(a) * std::sqrt(b) / (0.5 * a + 0.5 * b);
    return 1 / std::cosh(0.5 * scale * (std::log(a) - std::log(b)));
  }
  double finish(double product) const noexcept { return product; }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return make_differential([this, p, q](int64_t d, const double* x, const double* y) {
      double product = value(d, x, y);
      for_each_input(p, q, [&](int64_t k, int64_t m, int64_t n) noexcept {
        if (product != 0) product *= relative_slope(m, n, x[k] + c(k), y[k] + c(k));
      });
      return product;
    });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const double k = factor * value(d, x, y);
    for (int64_t j = 0; j < d; ++j)
      if (k != 0) out[j] += k * relative_slope(1, 0, x[j] + c(j), y[j] + c(j));
  }

 private:
  double c(int64_t j) const noexcept { return c_[c_.size() > 1 ? static_cast<size_t>(j) : 0]; }
  // Derivative of sqrt(a) sqrt(b)/(a + b), order m in a and n in b, over the function itself, by
  // Leibniz' rule:
  //  sum_{i, j} C(m, i) C(n, j) r_{m-i} a^{-(m-i)} r_{n-j} b^{-(n-j)} (-1)^{i+j} (i+j)! /
  //  (a + b)^{i+j},  r_k = (1/2) (1/2 - 1) ... (1/2 - k + 1).
  static double relative_slope(int64_t m, int64_t n, double a, double b) noexcept {
    double roots[2][2 * kMostDerivatives + 1];  // C(m, i) r_{m-i} a^{-(m-i)}
    fill_roots(m, a, roots[0]);
    fill_roots(n, b, roots[1]);
    double sum = 0, power = 1;  // (-1)^l l! / (a + b)^l
    for (int64_t l = 0; l <= m + n; ++l) {
      double inner = 0;
      for (int64_t i = std::max<int64_t>(l - n, 0); i <= std::min(l, m); ++i)
        inner += roots[0][i] * roots[1][l - i];
      sum += power * inner;
      power *= -static_cast<double>(l + 1) / (a + b);
    }
    return sum;
  }
  static void fill_roots(int64_t m, double a, double* to) noexcept {
    to[m] = 1;
    for (int64_t i = m; i > 0; --i)
      to[i - 1] = to[i] * (0.5 - static_cast<double>(m - i)) / a * static_cast<double>(i) /
                  static_cast<double>(m - i + 1);
  }

  std::vector<double> c_;  // one, or one for each input
};

// k(tau) = 2^{1-nu}/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| (Rasmussen, Williams 2006,
// eq. 4.14); omega is a multivariate t with 2 nu degrees: z / sqrt(g / nu), g ~ Gamma(nu), z ~ N(0,
// I).
//
// Closed forms for nu = 1/2, 3/2, 5/2. Any other nu > 0 by the mixture that StudentLaw below
// draws from,
//   k = 1/Gamma(nu) int_0^inf t^{nu-1} exp(-t - u^2/(4t)) dt,
// with t = nu e^y and the trapezoidal rule, which is exact to rounding for such integrands
// (Trefethen, Weideman 2014):
//   k = e^{c(nu)} int exp(-nu (e^y - 1 - y) - ||tau||^2 e^{-y} / 2) dy,  c(nu) = nu log nu - nu -
//   log Gamma(nu).
// All terms are positive and no factor overflows, so it holds for every nu, up to the Gaussian at
// nu -> inf, where K_nu itself is out of range.
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
    return random::portable_exp(random::portable_log_gamma(nu_ + half) -
                                random::portable_log_gamma(nu_) -
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

constexpr double kLeastNu = 1e-9;  // mixtures of 1e-15 are right to 6e-15, by 40-digit values
// Closer to 0 what has no limit there is left out, so that no power of 1/s overflows.
constexpr double kLeastSquare = 1e-60;
// Up to this order derivatives come by a recursion where no mixture gives them.
constexpr int64_t kRecursiveOrder = 4;

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
    for (int64_t n = 0; form_ == Smoothness::any && n <= mixtures(); ++n)
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

  bool take_values(std::span<double> s, std::span<double> slopes) const noexcept {
    if (form_ == Smoothness::any) return false;
    constexpr size_t kPiece = 64;
    for (size_t first = 0; first < s.size(); first += kPiece) {
      const size_t count = std::min(kPiece, s.size() - first);
      take_closed(s.subspan(first, count), slopes.empty() ? slopes : slopes.subspan(first, count));
    }
    return true;
  }

  // Matern nu has derivatives below order 2 nu, in s below nu by mixtures. The recursion below
  // divides by s once for each of the others, and there stands as many times t_i t_j beside it.
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
    return std::max(mixtures(), std::min(2 * mixtures(), kRecursiveOrder));
  }
  // The slope at 0 is infinite for nu <= 1: of these 1/2 alone has a closed form elsewhere.
  bool take_slopes(std::span<double> s, std::span<double> slopes) const noexcept override {
    return (form_ != Smoothness::any || mixtures() > 0) && RadialKernel::take_slopes(s, slopes);
  }
  void slopes(double squared, int64_t count, double* f) const noexcept {
    const double u = std::sqrt(2 * nu_ * squared), decay = std::exp(-u);
    // Infinite factors at 0 are multiplied by higher powers of t.
    const double over_u = u > 1e-100 ? 1 / u : 0;
    f[0] = finish(squared);
    const int64_t end = form_ == Smoothness::any ? std::min(count, mixtures() + 1) : count;
    for (int64_t n = 1; n < end; ++n) f[n] = slope(n, squared, u, decay, over_u);
    // s f^(n+1) = nu/2 f^(n-1) + (nu - n) f^(n), Bessel's equation.
    for (int64_t n = end; n < count; ++n)
      f[n] = squared < kLeastSquare
                 ? 0
                 : (0.5 * nu_ * f[n - 2] + (nu_ - static_cast<double>(n - 1)) * f[n - 1]) / squared;
  }

 private:
  /// Values and slopes by the closed form, of at most 64.
  void take_closed(std::span<double> s, std::span<double> slopes) const noexcept {
    constexpr double kFar = 1e4;  // where the exponential is 0
    double u[64];
    for (size_t i = 0; i < s.size(); ++i) u[i] = std::min(std::sqrt(2 * nu_ * s[i]), kFar);
    transform::exp_row(u, std::ssize(s), -1, 0, variance(), s.data());
    for (size_t i = 0; i < slopes.size(); ++i)
      slopes[i] = s[i] * (form_ == Smoothness::half           ? u[i] > 1e-100 ? -0.5 / u[i] : 0
                          : form_ == Smoothness::three_halves ? -1.5
                                                              : -5.0 / 6 * (1 + u[i]));
    if (form_ == Smoothness::half) return;
    const double third = form_ == Smoothness::three_halves ? 0 : 1.0 / 3;
    for (size_t i = 0; i < s.size(); ++i) s[i] *= 1 + u[i] + third * (u[i] * u[i]);
  }
  /// How many derivatives in s a mixture gives.
  int64_t mixtures() const noexcept {
    return static_cast<int64_t>(
        std::clamp(std::floor(nu_ - kLeastNu), 0.0, 2.0 * double{kMostDerivatives}));
  }
  // d/ds of 2^{1-nu}/Gamma(nu) u^nu K_nu(u), u^2 = 2 nu s, is -nu/(2 (nu - 1)) times that of nu - 1
  // and the same u.
  double slope(int64_t n, double s, double u, double decay, double over_u) const noexcept {
    if (form_ != Smoothness::any && decay == 0) return 0;         // where u may be infinite
    if (form_ == Smoothness::half) return -0.5 * over_u * decay;  // n = 1
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

KernelEntry gaussian_entry() {
  return entry_of<Gaussian>("gaussian", "exp(-||tau||^2 / (2 l^2))", {lengthscale_field()});
}

KernelEntry laplacian_entry() {
  return entry_of<Laplacian>("laplacian", "exp(-||tau||_1 / l)", {lengthscale_field()});
}

KernelEntry cauchy_entry() {
  return entry_of<Cauchy>("cauchy", "prod_j 1 / (1 + tau_j^2 / l^2)", {lengthscale_field()});
}

KernelEntry rational_quadratic_entry() {
  return entry_of<RationalQuadratic>(
      "rational_quadratic", "(1 + ||tau||^2 / (2 alpha l^2))^(-alpha)",
      {positive_field("alpha", 1.0, "tail exponent; infinity is the Gaussian"),
       lengthscale_field()});
}

KernelEntry skewed_chi2_entry() {
  return entry_of<SkewedChi2>(
      "skewed_chi2",
      "prod_j 2 sqrt(x_j + c_j) sqrt(y_j + c_j) / (x_j + y_j + 2 c_j), inputs > -c_j",
      {{.key = "c",
        .type = FieldType::number_or_numbers,
        .fallback = 1.0,
        .least = 0,
        .most = std::numeric_limits<double>::max(),
        .least_open = true,
        .help = "skew: one number, or one per input, which must exceed -c_j"}});
}

KernelEntry matern_entry() {
  return entry_of<Matern>(
      "matern", "2^(1-nu)/Gamma(nu) u^nu K_nu(u), u = sqrt(2 nu) ||tau|| / l",
      {positive_field("nu", 1.5, "smoothness; 0.5 is exp(-||tau||/l), large near the Gaussian"),
       lengthscale_field()});
}

}  // namespace mercer::kernel
