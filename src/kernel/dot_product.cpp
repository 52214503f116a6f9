// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = sum_n a_n (x'y)^n with the caller's coefficients: positive definite in every dimension
// iff all a_n >= 0 (Schoenberg 1942; Kar, Karnick, "Random feature maps for dot product kernels",
// AISTATS 2012).
#include "base/error.h"
#include "kernel/entry.h"
#include "kernel/inner_product.h"

namespace mercer::kernel {
namespace {

// As for the degree of a polynomial.
constexpr int64_t kMostDegree = 1024;

class ListedSeries final : public PowerSeries {
 public:
  ListedSeries(std::vector<double> coefficients, double variance)
      : coefficients_(std::move(coefficients)), variance_(variance) {
    while (coefficients_.size() > 1 && coefficients_.back() == 0) coefficients_.pop_back();
  }
  double coefficient(int64_t n) const noexcept override {
    return n < 0 || n >= std::ssize(coefficients_)
               ? 0
               : variance_ * coefficients_[static_cast<size_t>(n)];
  }
  std::optional<int64_t> degree() const noexcept override { return std::ssize(coefficients_) - 1; }

  // Of x'y = s, without the variance (Horner).
  double sum(double s) const noexcept {
    double value = coefficients_.back();
    for (size_t n = coefficients_.size() - 1; n > 0; --n) value = value * s + coefficients_[n - 1];
    return value;
  }

 private:
  std::vector<double> coefficients_;
  double variance_;
};

class DotProduct final : public Kernel {
 public:
  explicit DotProduct(const Parameters& canonical)
      : Kernel(canonical), series_(canonical.numbers("coefficients"), variance()) {
    const std::vector<double> given = canonical.numbers("coefficients");
    require(std::ssize(given) <= kMostDegree + 1, MERCER_INVALID_ARGUMENT,
            "coefficients = a list of %zu numbers, expected at most %lld", given.size(),
            static_cast<long long>(kMostDegree + 1));
  }
  const PowerSeries* series() const noexcept override { return &series_; }

  // A row that is no number is none for the kernel, a constant one included.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const double s = inner_product(d, x, y);
    return variance() * (s != s ? s : series_.sum(s));
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
