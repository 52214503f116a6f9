// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c) for inputs > -c (Li, Ionescu,
// Sminchisescu 2010): prod_j sech(t_j / 2) of t = log(x + c) - log(y + c); omega has independent
// coordinates of density sech(pi w).
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/numbers.h"
#include "kernel/coordinate_kernel.h"
#include "kernel/coordinate_law.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

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
      : SpectralKernel(canonical), c_(canonical.number("c")) {}
  std::shared_ptr<const transform::RowPrologue> prologue() const override {
    return transform::log_shift_prologue(c_);
  }
  std::optional<InputBound> input_bound() const noexcept override { return InputBound{-c_, true}; }
  // scale is the multiple of the warped difference.
  double term(double x, double y, double scale) const noexcept {
    const double a = x + c_;
    const double b = y + c_;
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
        if (product != 0) product *= relative_slope(m, n, x[k] + c_, y[k] + c_);
      });
      return product;
    });
  }
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const double k = factor * value(d, x, y);
    for (int64_t j = 0; j < d; ++j)
      if (k != 0) out[j] += k * relative_slope(1, 0, x[j] + c_, y[j] + c_);
  }

 private:
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

  double c_;
};

}  // namespace

KernelEntry skewed_chi2_entry() {
  return entry_of<SkewedChi2>(
      "skewed_chi2", "prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c), inputs > -c",
      {positive_field("c", 1.0, "skew: inputs must exceed -c")});
}

}  // namespace mercer::kernel
