// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Closed-form variances of random Fourier features with i.i.d. frequencies of a symmetric law (SPEC
// section 3), from three values of the kernel: they hold for every shift-invariant kernel and any
// amplitude.
#pragma once

#include <cstdint>

namespace mercer::moment {

/// k(0), k(tau), k(2 tau).
struct StationaryValues {
  double zero;
  double once;
  double twice;
};

/// Variance of the estimate with D columns: (k(0)^2 + k(0)k(2 tau) - 2k(tau)^2)/D.
double fourier_pair_variance(const StationaryValues& k, int64_t D) noexcept;
/// (k(0)^2 + k(0)k(2 tau)/2 - k(tau)^2)/D.
double fourier_phase_variance(const StationaryValues& k, int64_t D) noexcept;
/// E(k^ - k)^2 = (k(0)k(2 tau) - k(tau)^2)/D with D complex columns.
double fourier_complex_pseudo_variance(const StationaryValues& k, int64_t D) noexcept;
/// Variance of the real part, half that of pairs.
double fourier_complex_real_variance(const StationaryValues& k, int64_t D) noexcept;

}  // namespace mercer::moment
