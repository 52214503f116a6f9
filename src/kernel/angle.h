// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Norms of two rows and the angle between them, which kernels of random neurons depend on.
#pragma once

#include <cstdint>

namespace mercer::kernel {

/// All NaN if an entry of x or y is none of the finite numbers. A row of zeros is at a right angle
/// to every row but another of zeros, which is its own direction.
struct Angle {
  double x;      // ||x||
  double y;      // ||y||
  double theta;  // in [0, pi]
  double rest;   // pi - theta, without cancellation

  bool has_zeros() const noexcept { return x == 0 || y == 0; }
};

/// Symmetric in x and y to the bit. theta and rest are good to a few d roundings of themselves at 0
/// and pi, too, where acos of the cosine loses half of the digits; no norm overflows unless it is
/// no double, none vanishes.
Angle angle_between(int64_t d, const double* x, const double* y) noexcept;

}  // namespace mercer::kernel
