// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// a_n = variance / n!: exp(x'y), and with radial factors the Gaussian exp(x'y) exp(-||x||^2 / 2)
// exp(-||y||^2 / 2), rows over the lengthscale.
#pragma once

#include "kernel/kernel.h"

namespace mercer::kernel {

class ExponentialSeries final : public PowerSeries {
 public:
  ExponentialSeries(double variance, double radial) : variance_(variance), radial_(radial) {}
  double coefficient(int64_t n) const noexcept override {
    if (n < 0) return 0;
    double a = variance_;
    for (int64_t i = 2; i <= n && a > 0; ++i) a /= static_cast<double>(i);
    return a;
  }
  std::optional<int64_t> degree() const noexcept override { return std::nullopt; }
  bool is_exponential() const noexcept override { return true; }
  double radial() const noexcept override { return radial_; }

 private:
  double variance_;
  double radial_;
};

}  // namespace mercer::kernel
