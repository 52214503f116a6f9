// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Norms of two rows and the angle between them, which kernels of random neurons depend on.
#pragma once

#include <cstdint>

namespace mercer::kernel {

/// All NaN if an entry of x or y is not finite. A row of zeros is at a right angle to every row
/// except another row of zeros, with which it has angle 0.
struct Angle {
  double x;      // ||x||
  double y;      // ||y||
  double theta;  // in [0, pi]
  double rest;   // pi - theta, without cancellation

  bool has_zeros() const noexcept { return x == 0 || y == 0; }
};

/// Symmetric in x and y to the bit. theta and rest are accurate to a few d relative roundings, also
/// near 0 and pi, where acos of the cosine loses half of the digits; a norm overflows or underflows
/// only if it is not representable.
Angle angle_between(int64_t d, const double* x, const double* y) noexcept;

}  // namespace mercer::kernel
