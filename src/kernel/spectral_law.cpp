// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/spectral_law.h"

#include <limits>

namespace mercer::kernel {

double SpectralLaw::radius(const random::Stream&, int64_t) const noexcept {
  return std::numeric_limits<double>::quiet_NaN();
}

double SpectralLaw::quantile(double) const noexcept {
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace mercer::kernel
