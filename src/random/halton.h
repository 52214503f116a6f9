// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Halton points, scrambled by seed. Point number `index` is a function of seed and index alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "random/sobol.h"

namespace mercer::random {

/// The bases are the primes below 2^16.
inline constexpr int64_t kHaltonDimensions = 6542;

class HaltonPoints {
 public:
  /// UNSUPPORTED if d exceeds kHaltonDimensions.
  HaltonPoints(int64_t d, uint64_t seed, Scramble scramble);
  /// out[i] = coordinate `dimension` of point first + i, in (0, 1); first + out.size() <= 2^28.
  void fill(int64_t dimension, uint64_t first, std::span<double> out) const noexcept;

 private:
  std::vector<uint32_t> bases_;
  uint64_t seed_;
  Scramble scramble_;
};

}  // namespace mercer::random
