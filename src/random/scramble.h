// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How low-discrepancy points are randomised, and the last step from scrambled digits to a number.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mercer::random {

/// Both make every single point uniform on the unit cube, so that averages over the points are
/// unbiased. owen: nested (Owen, "Randomly permuted (t,m,s)-nets", 1995): a digit's permutation
/// depends on the digits before it. digital_shift: one random number added to all points, digit by
/// digit without carry; cheaper, but the digits of the difference of two points stay the same.
enum class Scramble { owen, digital_shift };

/// Upper limit of point numbers: below it two points always differ in some scrambled digit.
inline constexpr int64_t kMostLowDiscrepancyPoints = int64_t{1} << 28;

/// (digits + rest) / cells in the open interval (0, 1): `digits` < cells <= 2^53 selects one of
/// `cells` equal intervals, `rest` in (0, 1) the place inside it.
inline double point_in_cell(uint64_t digits, double rest, uint64_t cells) noexcept {
  const double u = (static_cast<double>(static_cast<int64_t>(digits)) + rest) /
                   static_cast<double>(static_cast<int64_t>(cells));
  return std::clamp(u, 0x1p-54, 1.0 - 0x1p-53);
}

}  // namespace mercer::random
