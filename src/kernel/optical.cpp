// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k_m(x, y) = E |u'x|^m |u'y|^m for complex normal u, m = 2s: what a camera sees behind a
// scattering medium, for m = 2 (Saade et al., "Random projections through multiple optical
// scattering", ICASSP 2016; Ohana et al., "Kernel computations from large-scale random features
// obtained by optical processing units", ICASSP 2020, theorem 2). m = 2: ||x||^2 ||y||^2 + (x'y)^2.
#include "kernel/optical.h"

#include <cmath>
#include <memory>

#include "base/error.h"
#include "kernel/entry.h"
#include "kernel/inner_product.h"
#include "kernel/jet.h"

namespace mercer::kernel {
namespace {

constexpr double kMostExponent = 16;

double squared_choice(int64_t s, int64_t j) noexcept {
  double choose = 1;
  for (int64_t i = 0; i < j; ++i) choose *= static_cast<double>(s - i) / static_cast<double>(i + 1);
  return choose * choose;
}
double squared_factorial(int64_t s) noexcept {
  double factorial = 1;
  for (int64_t i = 2; i <= s; ++i) factorial *= static_cast<double>(i);
  return factorial * factorial;
}

// Jets of x'y, ||x||^2 and ||y||^2, which are of degree 2 and so have few coefficients, then of the
// polynomial of these by Horner's rule.
class OpticalDifferential final : public Differential {
 public:
  OpticalDifferential(int64_t s, double variance, const MultiIndex& p, const MultiIndex& q)
      : jet_(joint_index(p, q)), s_(s), factor_(variance * squared_factorial(s) * jet_.factorial) {}

  double at(int64_t d, const double* x, const double* y) const noexcept override {
    double dot[Jet::kMost] = {inner_product(d, x, y)};
    double xx[Jet::kMost] = {inner_product(d, x, x)}, yy[Jet::kMost] = {inner_product(d, y, y)};
    for (size_t v = 0; v < jet_.p.size(); ++v) {
      const bool is_second = jet_.p[v].input >= kOfSecond;
      const int64_t k = jet_.p[v].input - (is_second ? kOfSecond : 0);
      dot[jet_.steps[v]] = is_second ? x[k] : y[k];
      for (size_t u = 0; u < v; ++u)
        if (jet_.p[u].input + kOfSecond == jet_.p[v].input) dot[jet_.steps[u] + jet_.steps[v]] = 1;
      double* const norm = is_second ? yy : xx;
      norm[jet_.steps[v]] = 2 * (is_second ? y : x)[k];
      if (jet_.p[v].order > 1) norm[2 * jet_.steps[v]] = 1;
    }
    double power[Jet::kMost] = {1}, sum[Jet::kMost] = {1};
    for (int64_t j = 1; j <= s_; ++j) {
      jet_.multiply(sum, dot);
      jet_.multiply(sum, dot);
      jet_.multiply(power, xx);
      jet_.multiply(power, yy);
      const double share = squared_choice(s_, j);
      for (int64_t c = 0; c < jet_.count; ++c) sum[c] += share * power[c];
    }
    return factor_ * sum[jet_.count - 1];
  }

 private:
  Jet jet_;
  int64_t s_;
  double factor_;
};

class Optical final : public Kernel {
 public:
  explicit Optical(const Parameters& canonical)
      : Kernel(canonical), exponent_(canonical.integer("exponent")) {
    require(exponent_ % 2 == 0, MERCER_INVALID_ARGUMENT,
            "exponent = %ld, expected an even integer from 2 to %g", exponent_, kMostExponent);
  }
  std::optional<Activation> activation() const noexcept override {
    return Activation{Activation::Function::complex_modulus, exponent_};
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const double N = inner_product(d, x, x) * inner_product(d, y, y);
    return variance() * optical_moment(exponent_ / 2, inner_product(d, x, y), N);
  }

  int64_t most_derivatives() const noexcept override { return 2 * kMostDerivatives; }
  std::unique_ptr<const Differential> differential(const MultiIndex& p,
                                                   const MultiIndex& q) const override {
    return std::make_unique<const OpticalDifferential>(exponent_ / 2, variance(), p, q);
  }
  // Slopes in dot and in ||x||^2 of the sum over j of C(s, j)^2 dot^{2 (s - j)} N^j.
  void add_gradient(double factor, int64_t d, const double* x, const double* y,
                    double* out) const noexcept override {
    const int64_t s = exponent_ / 2;
    const double dot = inner_product(d, x, y), yy = inner_product(d, y, y);
    const double N = inner_product(d, x, x) * yy;
    double in_dot = 0, in_N = 0;
    for (int64_t j = 0; j <= s; ++j) {
      const double c = squared_choice(s, j);
      const auto rest = static_cast<double>(s - j), own = static_cast<double>(j);
      if (j < s) in_dot += c * 2 * rest * std::pow(dot, 2 * rest - 1) * std::pow(N, own);
      if (j > 0) in_N += c * own * std::pow(dot, 2 * rest) * std::pow(N, own - 1);
    }
    const double by = factor * variance() * squared_factorial(s);
    for (int64_t k = 0; k < d; ++k) out[k] += by * (in_dot * y[k] + 2 * in_N * yy * x[k]);
  }

 private:
  int64_t exponent_;
};

}  // namespace

// Terms C(s, j)^2 (dot^2)^{s - j} N^j, none negative.
double optical_moment(int64_t s, double dot, double N) noexcept {
  const double square = dot * dot;
  double sum = 0, power = 1, choose = 1, factorial = 1;
  for (int64_t j = 0; j <= s; ++j) {
    sum += choose * choose * std::pow(square, static_cast<double>(s - j)) * power;
    power *= N;
    choose *= static_cast<double>(s - j) / static_cast<double>(j + 1);
    if (j > 0) factorial *= static_cast<double>(j);
  }
  return factorial * factorial * sum;
}

KernelEntry optical_entry() {
  return entry_of<Optical>(
      "optical",
      "E |u'x|^m |u'y|^m, m = exponent, of complex normal u; m = 2: ||x||^2 ||y||^2 + (x'y)^2",
      {integer_field("exponent", int64_t{2}, 2, kMostExponent, "m, even; 2: what a camera sees")},
      "optical");
}

}  // namespace mercer::kernel
