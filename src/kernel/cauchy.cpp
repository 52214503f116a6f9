// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(tau) = prod_j 1 / (1 + tau_j^2); omega has independent Laplace coordinates (Rahimi, Recht 2007,
// figure 1).
#include <cmath>

#include "kernel/coordinate_kernel.h"
#include "kernel/coordinate_law.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

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

}  // namespace

KernelEntry cauchy_entry() {
  return entry_of<Cauchy>("cauchy", "prod_j 1 / (1 + tau_j^2 / l^2)", {lengthscale_field()});
}

}  // namespace mercer::kernel
