// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With He the Hermite polynomials, d^n exp(-m x^2/2) = (-sqrt(m))^n He_n(sqrt(m) x) exp(-m x^2/2)
// and by Leibniz' rule
//   d^n h = h sum_i binomial(n, i) w (w - 1) ... (w - i + 1) x^-i (-sqrt(m))^{n-i} He_{n-i}(sqrt(m)
//   x).
// At x = 0 only i = w is left. Factors of 0 are counted and the others multiplied as logarithms, so
// that nothing overflows on the way and nothing is divided by 0.
#include "feature/poisson_derivative.h"

#include <algorithm>
#include <cmath>

#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

// Of a panel: the product of its factors but those of inputs that are 0, and how many of these it
// has with an exponent above 0.
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
    double log[kWidth];
    std::fill_n(log, kWidth, exponent);
    std::fill_n(value_, kWidth, panel.scale);
    for (int64_t k = 0; k < panel.inputs; ++k) {
      const double x = panel.x[k], log_x = x == 0 ? 0 : std::log(std::fabs(x));
      for (int64_t j = 0; j < kWidth; ++j) {
        const double w = exponent_of(k, j);
        log[j] += w * log_x;
        zeros_[j] += x == 0 && w > 0;
        if (x < 0 && std::fmod(w, 2) == 1) value_[j] = -value_[j];
      }
    }
    for (int64_t j = 0; j < kWidth; ++j) value_[j] *= std::exp(log[j]);
  }

  /// z_j without the factors of `replaced` inputs that are 0, times `factor`.
  double at(int64_t j, int64_t replaced, double factor) const noexcept {
    return factor == 0 || zeros_[j] > replaced ? 0 * value_[j] : value_[j] * factor;
  }
  double exponent_of(int64_t k, int64_t j) const noexcept { return panel_.W[k * kWidth + j]; }
  /// d^n h over h, or over exp(m/2) where x_k is 0.
  double factor(int64_t k, int64_t j, int64_t n) const noexcept {
    const double x = panel_.x[k], w = exponent_of(k, j), root = std::sqrt(panel_.mean(k));
    double hermite[kernel::kMostDerivatives + 1] = {1};  // (-root)^i He_i(root x)
    for (int64_t i = 0; i < n; ++i)
      hermite[i + 1] =
          -root * root * (x * hermite[i] + static_cast<double>(i) * (i > 0 ? hermite[i - 1] : 0));
    double sum = 0, term = 1;  // binomial(n, i) w (w - 1) ... x^-i
    for (int64_t i = 0; i <= n; ++i) {
      if (x != 0 || static_cast<double>(i) == w) sum += term * hermite[n - i];
      term *=
          static_cast<double>(n - i) / static_cast<double>(i + 1) * (w - static_cast<double>(i));
      if (x != 0) term /= x;
    }
    return sum;
  }
  bool is_zero(int64_t k, int64_t j) const noexcept {
    return panel_.x[k] == 0 && exponent_of(k, j) > 0;
  }

 private:
  const PoissonPanel<T>& panel_;
  double value_[kWidth];
  int64_t zeros_[kWidth] = {};
};

}  // namespace

template <class T>
void poisson_partial(const PoissonPanel<T>& panel, const MultiIndex& p, T* out) noexcept {
  const Products<T> products(panel);
  for (int64_t j = 0; j < Products<T>::kWidth; ++j) {
    double factor = 1;
    int64_t replaced = 0;
    for (const PartialFactor& one : p) {
      factor *= products.factor(one.input, j, one.order);
      replaced += products.is_zero(one.input, j);
    }
    out[j] = static_cast<T>(products.at(j, replaced, factor));
  }
}

template <class T>
void poisson_gradient(const PoissonPanel<T>& panel, T* out) noexcept {
  const Products<T> products(panel);
  for (int64_t k = 0; k < panel.inputs; ++k) {
    const double x = panel.x[k], m = panel.mean(k);
    for (int64_t j = 0; j < Products<T>::kWidth; ++j) {
      const double w = products.exponent_of(k, j);
      const double factor = x == 0 ? static_cast<double>(w == 1) : w / x - m * x;
      *out++ = static_cast<T>(products.at(j, products.is_zero(k, j), factor));
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
