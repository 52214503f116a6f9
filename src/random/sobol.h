// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sobol' points, scrambled by seed. Point number `index` is a function of seed and index alone.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "random/joe_kuo.h"
#include "random/scramble.h"

namespace mercer::random {

/// Tabulated bits of one coordinate.
inline constexpr int kSobolBits = 28;

/// One coordinate of the unscrambled points.
class SobolDimension {
 public:
  explicit SobolDimension(int64_t dimension) noexcept;
  /// The coordinate of point `index` < 2^28, times 2^28. Points come in the order of Sobol' (1967),
  /// not in Gray code order: the first 2^m of them are the same set.
  uint64_t digits(uint64_t index) const noexcept;

 private:
  std::array<uint64_t, kSobolBits> directions_;
};

class SobolPoints {
 public:
  /// UNSUPPORTED if d exceeds kSobolDimensions.
  SobolPoints(int64_t d, uint64_t seed, Scramble scramble);
  /// out[i] = coordinate `dimension` of point first + i, in (0, 1); first + out.size() <= 2^28.
  void fill(int64_t dimension, uint64_t first, std::span<double> out) const noexcept;

 private:
  uint64_t seed_;
  Scramble scramble_;
};

}  // namespace mercer::random
