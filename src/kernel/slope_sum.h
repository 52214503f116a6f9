// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of f(s(x, y)) where the derivatives of s end after the second: each is a sum of
// f^(n)(s), whose coefficients are those of a polynomial, a product over the inputs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/multi_index.h"

namespace mercer::kernel {

class SlopeSum {
 public:
  static constexpr int64_t kMost = 2 * kMostDerivatives;

  /// The coefficients so far times those of one input, terms[0], ..., terms[count]; all highest()
  /// together at most kMost.
  void multiply(const double* terms, int64_t count) noexcept {
    double product[kMost + 1] = {};
    for (int64_t a = 0; a <= highest_; ++a)
      for (int64_t b = 0; b <= count; ++b) product[a + b] += coefficients_[a] * terms[b];
    highest_ += count;
    std::copy_n(product, highest_ + 1, coefficients_);
  }
  int64_t highest() const noexcept { return highest_; }
  /// sum_n coefficient n times f[n]; terms with f[n] = 0 are left out.
  double at(const double* f) const noexcept {
    double sum = 0;
    for (int64_t n = 0; n <= highest_; ++n)
      if (f[n] != 0 && coefficients_[n] != 0) sum += coefficients_[n] * f[n];
    return sum;
  }

 private:
  double coefficients_[kMost + 1] = {1};
  int64_t highest_ = 0;
};

}  // namespace mercer::kernel
