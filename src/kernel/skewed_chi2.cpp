// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c) for inputs > -c (Li, Ionescu,
// Sminchisescu 2010): prod_j sech(t_j / 2) of t = log(x + c) - log(y + c); omega has independent
// coordinates of density sech(pi w).
#include <cmath>
#include <limits>

#include "kernel/coordinate_kernel.h"
#include "kernel/coordinate_law.h"
#include "random/scalar_math.h"

namespace mercer::kernel {
namespace {

constexpr double kInversePi = 0.31830988618379067154;  // 1/pi

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
    if (!(a > 0 && b > 0)) return std::numeric_limits<double>::quiet_NaN();
    if (scale == 1) return std::sqrt(a) * std::sqrt(b) / (0.5 * a + 0.5 * b);
    return 1 / std::cosh(0.5 * scale * (std::log(a) - std::log(b)));
  }
  double finish(double product) const noexcept { return product; }

 private:
  double c_;
};

}  // namespace

KernelEntry skewed_chi2_entry() {
  return entry_of<SkewedChi2>(
      "skewed_chi2", "prod_j 2 sqrt(x_j + c) sqrt(y_j + c) / (x_j + y_j + 2 c), inputs > -c",
      {positive_field("c", 1.0, "skew: inputs must exceed -c")});
}

}  // namespace mercer::kernel
