// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The square of a column's share is a share of twice the exponent (Wacker 2022, section 6.2, with
// the square that is missing there: SPEC section 12).
#include "moment/optical_variance.h"

#include <algorithm>

#include "kernel/optical.h"

namespace mercer::moment {

double optical_variance(int64_t exponent, double dot, double N, int64_t D) noexcept {
  const double k = kernel::optical_moment(exponent / 2, dot, N);
  // std::max in this order keeps a NaN.
  return std::max(kernel::optical_moment(exponent, dot, N) - k * k, 0.0) / static_cast<double>(D);
}

}  // namespace mercer::moment
