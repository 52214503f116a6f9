// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With omega drawn from the spectral density, E cos^2(omega'tau) = (k(0) + k(2 tau))/(2 k(0)) gives
// all of them (Sutherland, Schneider 2015, for the first two; Wacker, Kanagawa, Filippone 2022 for
// the complex form).
#include "moment/fourier_variance.h"

#include <algorithm>

namespace mercer::moment {
namespace {

// Rounding near k(0) can take a variance of 0 below it. std::max in this order keeps a NaN.
double of_columns(double variance, int64_t D) noexcept {
  return std::max(variance, 0.0) / static_cast<double>(D);
}

}  // namespace

double fourier_pair_variance(const StationaryValues& k, int64_t D) noexcept {
  return of_columns(k.zero * k.zero + k.zero * k.twice - 2 * k.once * k.once, D);
}

double fourier_phase_variance(const StationaryValues& k, int64_t D) noexcept {
  return of_columns(k.zero * k.zero + k.zero * k.twice / 2 - k.once * k.once, D);
}

double fourier_complex_pseudo_variance(const StationaryValues& k, int64_t D) noexcept {
  return (k.zero * k.twice - k.once * k.once) / static_cast<double>(D);
}

double fourier_complex_real_variance(const StationaryValues& k, int64_t D) noexcept {
  return fourier_pair_variance(k, D) / 2;
}

}  // namespace mercer::moment
