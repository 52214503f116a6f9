// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/domain.h"

#include <cmath>

#include "base/error.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

void require_positive(const char* name, double value) {
  require(std::isfinite(value) && value > 0, MERCER_INVALID_ARGUMENT,
          "%s = %g, expected a positive finite number", name, value);
}

std::vector<double> checked_lengthscale(std::vector<double> lengthscale) {
  require(!lengthscale.empty(), MERCER_INVALID_ARGUMENT,
          "lengthscale holds no numbers, expected one, or one per input");
  for (size_t j = 0; j < lengthscale.size(); ++j) {
    const double value = lengthscale[j];
    require(value >= kLeastLengthscale && value <= kMostLengthscale, MERCER_INVALID_ARGUMENT,
            "lengthscale[%zu] = %g, expected a positive finite number in [%g, %g]", j, value,
            kLeastLengthscale, kMostLengthscale);
  }
  return lengthscale;
}

}  // namespace mercer::kernel
