// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// x'y for dot-product kernels, symmetric in x and y to the bit.
#pragma once

#include "kernel/lane_fold.h"

namespace mercer::kernel {

inline double inner_product(int64_t d, const double* x, const double* y) noexcept {
  return lane_fold<Sum>(d, [=](int64_t j) noexcept { return x[j] * y[j]; });
}

}  // namespace mercer::kernel
