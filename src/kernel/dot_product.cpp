// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_n a_n (x'y)^n with the caller's coefficients: positive definite in every dimension
// iff all a_n >= 0 (Schoenberg 1942; Kar, Karnick, "Random feature maps for dot product kernels",
// AISTATS 2012).
#include "base/error.h"
#include "kernel/inner_product.h"
#include "kernel/inner_product_kernel.h"

namespace mercer::kernel {
namespace {

class ListedSeries final : public PowerSeries {
 public:
  ListedSeries(std::vector<double> coefficients, double variance)
      : coefficients_(std::move(coefficients)), variance_(variance) {
    while (coefficients_.size() > 1 && coefficients_.back() == 0) coefficients_.pop_back();
  }
  double coefficient(int64_t n) const noexcept override {
    return n < 0 || n >= std::ssize(coefficients_) ? 0 : variance_ * coefficients_[n];
  }
  std::optional<int64_t> degree() const noexcept override { return std::ssize(coefficients_) - 1; }

  // The sum at x'y = s, without the variance (Horner).
  double sum(double s) const noexcept { return slope(s, 0); }
  // Its derivative of order n.
  double slope(double s, size_t n) const noexcept {
    double value = 0;
    for (size_t m = coefficients_.size(); m-- > n;) {
      double a = coefficients_[m];
      for (size_t i = 0; i < n; ++i) a *= static_cast<double>(m - i);
      value = value * s + a;
    }
    return value;
  }

 private:
  std::vector<double> coefficients_;
  double variance_;
};

class DotProduct final : public InnerProductKernel<DotProduct> {
 public:
  explicit DotProduct(const Parameters& canonical)
      : InnerProductKernel(canonical), series_(canonical.numbers("coefficients"), variance()) {
    const std::vector<double> given = canonical.numbers("coefficients");
    require(std::ssize(given) <= kMostPower + 1, MERCER_INVALID_ARGUMENT,
            "coefficients = a list of %zu numbers, expected at most %ld", given.size(),
            kMostPower + 1);
  }
  const PowerSeries* series() const noexcept override { return &series_; }

  // A row with NaN or Inf gives NaN, also for a constant kernel.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const double s = inner_product(d, x, y);
    return variance() * (s != s ? s : series_.sum(s));
  }
  double input_factor(int64_t) const noexcept { return 1; }
  void slopes(int64_t d, const double* x, const double* y, int64_t count,
              double* f) const noexcept {
    const double s = inner_product(d, x, y);
    for (int64_t n = 0; n < count; ++n)
      f[n] = variance() * (s != s ? s : series_.slope(s, static_cast<size_t>(n)));
  }

 private:
  ListedSeries series_;
};

}  // namespace

KernelEntry dot_product_entry() {
  return entry_of<DotProduct>("dot_product", "sum_n a_n (x'y)^n, a_n >= 0",
                              {{.key = "coefficients",
                                .type = FieldType::numbers,
                                .fallback = {},
                                .least = 0,
                                .most = std::numeric_limits<double>::max(),
                                .help = "a_0, a_1, ...: at most 1025 numbers"}},
                              "nystroem");
}

}  // namespace mercer::kernel
