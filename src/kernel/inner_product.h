// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// x'y for dot-product kernels. Independent lanes let the compiler vectorise without reordering: the
// order of additions is fixed here, and symmetric in x and y.
#pragma once

#include <cstdint>

namespace mercer::kernel {

inline double inner_product(int64_t d, const double* x, const double* y) noexcept {
  constexpr int64_t kLanes = 8;
  double lane[kLanes] = {};
  int64_t j = 0;
  for (; j + kLanes <= d; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lane[l] += x[j + l] * y[j + l];
  }
  for (int64_t l = 0; j < d; ++j, ++l) lane[l] += x[j] * y[j];
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t l = 0; l < width; ++l) lane[l] += lane[l + width];
  }
  return lane[0];
}

}  // namespace mercer::kernel
