// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = variance (gamma x'y + offset)^degree (SPEC section 4). No spectral law: its maps are
// sketches, and for degree 1 without offset, which is the plain inner product, the linear map.
#include <cmath>

#include "kernel/inner_product.h"
#include "kernel/inner_product_kernel.h"

namespace mercer::kernel {
namespace {

/// a_n = variance binomial(p, n) gamma^n offset^(p - n).
class BinomialSeries final : public PowerSeries {
 public:
  BinomialSeries(const InnerPower& power, double variance) : power_(power), variance_(variance) {}
  double coefficient(int64_t n) const noexcept override {
    if (n < 0 || n > power_.degree) return 0;
    const auto rest = static_cast<double>(power_.degree - n);
    double a = variance_ * std::pow(power_.offset, rest);
    for (double i = 1; i <= static_cast<double>(n); ++i) a *= power_.gamma * ((rest + i) / i);
    return a;
  }
  std::optional<int64_t> degree() const noexcept override { return power_.degree; }

 private:
  InnerPower power_;
  double variance_;
};

class Polynomial final : public InnerProductKernel<Polynomial> {
 public:
  explicit Polynomial(const Parameters& canonical)
      : InnerProductKernel(canonical),
        power_{canonical.integer("degree"), canonical.number("gamma"), canonical.number("offset")},
        series_(power_, variance()) {}

  std::optional<InnerPower> inner_power() const noexcept override { return power_; }
  const PowerSeries* series() const noexcept override { return &series_; }

  // A power of an integral exponent takes a negative base, too.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * std::pow(power_.gamma * inner_product(d, x, y) + power_.offset,
                                 static_cast<double>(power_.degree));
  }
  double input_factor(int64_t) const noexcept { return power_.gamma; }
  // Derivatives of the power of gamma s + offset; gamma is the factor of every input.
  void slopes(int64_t d, const double* x, const double* y, int64_t count,
              double* f) const noexcept {
    const double base = power_.gamma * inner_product(d, x, y) + power_.offset;
    double falling = variance();  // degree!/(degree - n)!, 0 beyond the degree
    for (int64_t n = 0; n < count; ++n) {
      const int64_t rest = power_.degree - n;
      f[n] = rest < 0 ? 0 : falling * std::pow(base, static_cast<double>(rest));
      falling *= static_cast<double>(rest);
    }
  }

 private:
  InnerPower power_;
  BinomialSeries series_;
};

}  // namespace

KernelEntry polynomial_entry() {
  return entry_of<Polynomial>(
      "polynomial", "(gamma x'y + offset)^degree",
      {count_field("degree", int64_t{2}, kMostPower, "the power"),
       positive_field("gamma", 1.0, "factor of x'y"),
       number_field("offset", 0.0, 0, std::numeric_limits<double>::max(), "added to gamma x'y")},
      "tensor_srht");
}

}  // namespace mercer::kernel
