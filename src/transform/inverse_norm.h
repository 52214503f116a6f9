// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace mercer::transform {

/// 1 / ||x||, squares neither over- nor underflowing; NaN for zeros, and where x has one.
template <class T>
double inverse_norm(int64_t count, const T* x) noexcept {
  double largest = 0, sum = 0;
  for (int64_t k = 0; k < count; ++k)
    largest = std::max(largest, std::fabs(static_cast<double>(x[k])));
  for (int64_t k = 0; k < count; ++k) {
    const double share = static_cast<double>(x[k]) / largest;
    sum += share * share;
  }
  return 1 / (largest * std::sqrt(sum));
}

}  // namespace mercer::transform
