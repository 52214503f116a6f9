// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Radial distributions of frequencies fitted to a function of the distance.
#pragma once

#include <cstdint>

#include "kernel/radial_waves.h"

namespace mercer::kernel {

/// Distances between points of the unit sphere.
inline constexpr double kMostDistance = 2;

struct RadialFit {
  WaveMixture mixture;
  double largest_error;  // over distances in [0, 2]
  double rms_error;
};

/// The mixture in dimension m, or kNormalWaves, that is closest to k(t) = (1 - t^2/a^2)^degree in the
/// mean square over t in [0, 2] among those of scales on a grid. The same bits on every machine;
/// some milliseconds.
RadialFit fit_sphere_polynomial(int64_t degree, double a, int64_t m);

}  // namespace mercer::kernel
