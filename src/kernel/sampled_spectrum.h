// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What spectra of homogeneous kernels are made of, the same bits on every machine.
#pragma once

#include <cmath>
#include <iterator>
#include <span>

#include "kernel/kernel.h"
#include "random/scalar_math.h"

namespace mercer::kernel {

/// Of sampled spectra that never end.
inline constexpr int64_t kMostOrder = 1000;

/// sech(pi l) = 2 e / (1 + e^2), e = exp(-pi |l|).
inline double sech_pi(double l) noexcept {
  constexpr double kPi = 3.14159265358979323846;
  const double e = random::portable_exp(-kPi * std::fabs(l));
  return 2 * e / (1 + e * e);
}

/// The period of an order: from a table of the first orders, beyond it falling as that power of the
/// order, which it nearly does by then.
inline double sampled_period(std::span<const double> periods, double power,
                             int64_t order) noexcept {
  const int64_t last = std::ssize(periods) - 1;
  if (order <= last) return periods[static_cast<size_t>(order)];
  const double beyond = static_cast<double>(order) / static_cast<double>(last);
  return periods[static_cast<size_t>(last)] * random::portable_pow(beyond, -power);
}

}  // namespace mercer::kernel
