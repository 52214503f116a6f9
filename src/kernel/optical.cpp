// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k_m(x, y) = E |u'x|^m |u'y|^m for complex normal u, m = 2s: what a camera sees behind a
// scattering medium, for m = 2 (Saade et al., "Random projections through multiple optical
// scattering", ICASSP 2016; Ohana et al., "Kernel computations from large-scale random features
// obtained by optical processing units", ICASSP 2020, theorem 2). m = 2: ||x||^2 ||y||^2 + (x'y)^2.
#include "kernel/optical.h"

#include <cmath>

#include "base/error.h"
#include "kernel/entry.h"
#include "kernel/inner_product.h"

namespace mercer::kernel {
namespace {

constexpr double kMostExponent = 16;

class Optical final : public Kernel {
 public:
  explicit Optical(const Parameters& canonical)
      : Kernel(canonical), exponent_(canonical.integer("exponent")) {
    require(exponent_ % 2 == 0, MERCER_INVALID_ARGUMENT,
            "exponent = %lld, expected an even integer from 2 to %g",
            static_cast<long long>(exponent_), kMostExponent);
  }
  std::optional<Activation> activation() const noexcept override {
    return Activation{Activation::Function::complex_modulus, exponent_};
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const double N = inner_product(d, x, x) * inner_product(d, y, y);
    return variance() * optical_moment(exponent_ / 2, inner_product(d, x, y), N);
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
