// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = exp(x'y / l^2): the softmax kernel of attention (Choromanski et al., "Rethinking
// attention with performers", ICLR 2021), and the Gaussian without its radial factors (SPEC section
// 5).
#include <algorithm>
#include <cmath>

#include "kernel/exponential_series.h"
#include "kernel/inner_product_kernel.h"
#include "kernel/lane_fold.h"

namespace mercer::kernel {
namespace {

class Exponential final : public InnerProductKernel<Exponential> {
 public:
  explicit Exponential(const Parameters& canonical)
      : InnerProductKernel(canonical), series_(variance(), 0) {
    for (const double l : lengthscale()) inverse_.push_back(1 / l);
  }
  const PowerSeries* series() const noexcept override { return &series_; }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * std::exp(exponent(d, x, y));
  }
  double log_size(int64_t d, const double* x, const double* y) const noexcept override {
    return std::log(variance()) + exponent(d, x, y);
  }
  double input_factor(int64_t k) const noexcept {
    const double inverse = inverse_[inverse_.size() > 1 ? static_cast<size_t>(k) : 0];
    return inverse * inverse;
  }
  void slopes(int64_t d, const double* x, const double* y, int64_t count,
              double* f) const noexcept {
    std::fill_n(f, count, value(d, x, y));
  }

 private:
  double exponent(int64_t d, const double* x, const double* y) const noexcept {
    const double* const inverse = inverse_.data();
    const int64_t step = inverse_.size() > 1 ? 1 : 0;
    return lane_fold<Sum>(d, [=](int64_t j) noexcept {
      return (x[j] * inverse[step * j]) * (y[j] * inverse[step * j]);
    });
  }

  ExponentialSeries series_;
  std::vector<double> inverse_;  // 1/lengthscale
};

}  // namespace

KernelEntry exponential_entry() {
  return entry_of<Exponential>("exponential", "exp(x'y / l^2)", {lengthscale_field()}, "positive");
}

}  // namespace mercer::kernel
