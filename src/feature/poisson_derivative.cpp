// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With He the Hermite polynomials, d^n exp(-m x^2/2) = (-sqrt(m))^n He_n(sqrt(m) x) exp(-m x^2/2)
// and by Leibniz' rule
//   d^n h = h sum_i binomial(n, i) w (w - 1) ... (w - i + 1) x^-i (-sqrt(m))^{n-i} He_{n-i}(sqrt(m)
//   x).
// At x = 0 only i = w is left. Of |x| <= 1 the power x^-min(n, w) is taken out of the sum, of
// others x^n, and what is left does not overflow: such powers, and those of z itself, are
// multiplied as logarithms. Factors of 0 are counted.
#include "feature/poisson_derivative.h"

#include <algorithm>
#include <cmath>

#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

double log_size(double x) noexcept { return x == 0 ? 0 : std::log(std::fabs(x)); }

// d^n h = h factor |x|^power; at x = 0, the factor of exp(m/2).
struct Slope {
  double factor;
  double power;
};

Slope slope_of(double x, double w, double m, int64_t n) noexcept {
  const bool near = std::fabs(x) <= 1;
  const double q = near ? x : 1 / x, most = std::min(static_cast<double>(n), w);
  if (x == 0 && w > most) return {0, 0};
  // (-sqrt(m))^i He_i(sqrt(m) x), far out over x^i.
  double hermite[kernel::kMostDerivatives + 1] = {1};
  for (int64_t i = 0; i < n; ++i) {
    const double before = i > 0 ? static_cast<double>(i) * hermite[i - 1] : 0;
    hermite[i + 1] = -m * (near ? q * hermite[i] + before : hermite[i] + q * q * before);
  }
  double sum = 0, term = 1, power = 1;  // binomial(n, i) w (w - 1) ...; q^{2 i}
  for (int64_t i = 0; static_cast<double>(i) <= most; ++i) {
    sum = near ? sum * q + term * hermite[n - i] : sum + term * power * hermite[n - i];
    term *= static_cast<double>(n - i) / static_cast<double>(i + 1) * (w - static_cast<double>(i));
    power *= q * q;
  }
  const double taken = near ? -most : static_cast<double>(n);
  return {x < 0 && std::fmod(taken, 2) != 0 ? -sum : sum, taken};
}

// For the columns of a panel: the product of the factors of inputs that are not 0, and for how many
// inputs that are 0 the exponent is above 0.
template <class T>
class Products {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  explicit Products(const PoissonPanel<T>& panel) noexcept : panel_(panel) {
    double exponent = 0;
    for (int64_t k = 0; k < panel.inputs; ++k) {
      const double x = panel.x[k];
      exponent += 0.5 * panel.mean(k) * (1 - x * x);
    }
    std::fill_n(log_, kWidth, exponent);
    std::fill_n(scale_, kWidth, panel.scale);
    for (int64_t k = 0; k < panel.inputs; ++k) {
      const double x = panel.x[k], log_x = log_size(x);
      for (int64_t j = 0; j < kWidth; ++j) {
        const double w = exponent_of(k, j);
        log_[j] += w * log_x;
        zeros_[j] += x == 0 && w > 0;
        if (x < 0 && std::fmod(w, 2) == 1) scale_[j] = -scale_[j];
      }
    }
    for (int64_t j = 0; j < kWidth; ++j) value_[j] = scale_[j] * std::exp(log_[j]);
  }

  /// z_j without the factors of `replaced` inputs that are 0, times `factor` exp(log).
  double at(int64_t j, int64_t replaced, double factor, double log) const noexcept {
    if (factor == 0 || zeros_[j] > replaced) return std::isnan(log_[j]) ? log_[j] : 0;
    return scale_[j] * factor * std::exp(log_[j] + log);
  }
  /// The same with log = 0; `factor` may be infinite where z_j is 0.
  double at(int64_t j, int64_t replaced, double factor) const noexcept {
    if (factor == 0 || zeros_[j] > replaced) return std::isnan(log_[j]) ? log_[j] : 0;
    return value_[j] == 0 ? 0 : value_[j] * factor;
  }
  double exponent_of(int64_t k, int64_t j) const noexcept { return panel_.W[k * kWidth + j]; }
  bool is_zero(int64_t k, int64_t j) const noexcept {
    return panel_.x[k] == 0 && exponent_of(k, j) > 0;
  }

 private:
  const PoissonPanel<T>& panel_;
  double log_[kWidth], scale_[kWidth], value_[kWidth];  // z_j = scale exp(log)
  int64_t zeros_[kWidth] = {};
};

// Below, x^w may be 0 where x^(w - 1) is not.
constexpr double kSmall = 1e-3;

}  // namespace

template <class T>
void poisson_partial(const PoissonPanel<T>& panel, const MultiIndex& p, T* out) noexcept {
  constexpr int64_t kWidth = Products<T>::kWidth;
  const Products<T> products(panel);
  double factor[kWidth], log[kWidth] = {};
  int64_t replaced[kWidth] = {};
  std::fill_n(factor, kWidth, 1.0);
  for (const PartialFactor& one : p) {
    const double x = panel.x[one.input], m = panel.mean(one.input), log_x = log_size(x);
    for (int64_t j = 0; j < kWidth; ++j) {
      const Slope slope = slope_of(x, products.exponent_of(one.input, j), m, one.order);
      factor[j] *= slope.factor;
      log[j] += slope.power * log_x;
      replaced[j] += products.is_zero(one.input, j);
    }
  }
  for (int64_t j = 0; j < kWidth; ++j)
    out[j] = static_cast<T>(products.at(j, replaced[j], factor[j], log[j]));
}

template <class T>
void poisson_gradient(const PoissonPanel<T>& panel, T* out) noexcept {
  const Products<T> products(panel);
  for (int64_t k = 0; k < panel.inputs; ++k) {
    const double x = panel.x[k], m = panel.mean(k), log_x = log_size(x);
    const bool small = std::fabs(x) < kSmall;
    for (int64_t j = 0; j < Products<T>::kWidth; ++j) {
      const double w = products.exponent_of(k, j);
      if (small) {
        const Slope slope = slope_of(x, w, m, 1);
        *out++ = static_cast<T>(
            products.at(j, products.is_zero(k, j), slope.factor, slope.power * log_x));
      } else {
        *out++ = static_cast<T>(products.at(j, 0, w / x - m * x));
      }
    }
  }
}

#define MERCER_INSTANTIATE(T)                                                            \
  template void poisson_partial(const PoissonPanel<T>&, const MultiIndex&, T*) noexcept; \
  template void poisson_gradient(const PoissonPanel<T>&, T*) noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
