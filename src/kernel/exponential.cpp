// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = exp(x'y / l^2): the softmax kernel of attention (Choromanski et al., "Rethinking
// attention with performers", ICLR 2021), and the Gaussian without its radial factors (SPEC section
// 5).
#include <cmath>

#include "kernel/entry.h"
#include "kernel/exponential_series.h"
#include "kernel/lane_fold.h"

namespace mercer::kernel {
namespace {

class Exponential final : public Kernel {
 public:
  explicit Exponential(const Parameters& canonical) : Kernel(canonical), series_(variance(), 0) {
    for (const double l : lengthscale()) inverse_.push_back(1 / l);
  }
  const PowerSeries* series() const noexcept override { return &series_; }

  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const double* const inverse = inverse_.data();
    const int64_t step = inverse_.size() > 1 ? 1 : 0;
    return variance() * std::exp(lane_fold<Sum>(d, [=](int64_t j) noexcept {
             return (x[j] * inverse[step * j]) * (y[j] * inverse[step * j]);
           }));
  }

 private:
  ExponentialSeries series_;
  std::vector<double> inverse_;  // 1/lengthscale
};

}  // namespace

KernelEntry exponential_entry() {
  return entry_of<Exponential>("exponential", "exp(x'y / l^2)", {lengthscale_field()}, "positive");
}

}  // namespace mercer::kernel
