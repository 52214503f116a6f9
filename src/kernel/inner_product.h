// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// x'y for dot-product kernels.
#pragma once

#include "kernel/coordinate_fold.h"

namespace mercer::kernel {

inline double inner_product(int64_t d, const double* x, const double* y) noexcept {
  return fold<Sum>(d, [x, y](int64_t j) { return x[j] * y[j]; });
}

}  // namespace mercer::kernel
