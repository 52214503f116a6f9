// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sobol' points, scrambled by seed. Point number `index` is a function of seed and index alone.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace mercer::random {

// How low-discrepancy points are randomised, and the last step from scrambled digits to a number.

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

// The numbers that define Sobol' points: Joe, Kuo, "Constructing Sobol sequences with better
// two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), table new-joe-kuo-6.

inline constexpr int64_t kSobolDimensions = 1024;

struct SobolNumbers {
  /// A primitive polynomial over GF(2): bit i is the coefficient of x^i. It is 1 in dimension 0.
  uint32_t polynomial;
  /// m_1, ..., m_s with s the polynomial's degree: m_i is odd and below 2^i.
  std::span<const uint16_t> initial;
};

/// 0 <= dimension < kSobolDimensions, counted from 0.
SobolNumbers joe_kuo(int64_t dimension) noexcept;

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

// Halton points, scrambled by seed. Point number `index` is a function of seed and index alone.

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
