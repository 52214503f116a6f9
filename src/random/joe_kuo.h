// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The numbers that define Sobol' points: Joe, Kuo, "Constructing Sobol sequences with better
// two-dimensional projections", SIAM J. Sci. Comput. 30 (2008), table new-joe-kuo-6.
#pragma once

#include <cstdint>
#include <span>

namespace mercer::random {

inline constexpr int64_t kSobolDimensions = 1024;

struct SobolNumbers {
  /// A primitive polynomial over GF(2): bit i is the coefficient of x^i. It is 1 in dimension 0.
  uint32_t polynomial;
  /// m_1, ..., m_s with s the polynomial's degree: m_i is odd and below 2^i.
  std::span<const uint16_t> initial;
};

/// 0 <= dimension < kSobolDimensions, counted from 0.
SobolNumbers joe_kuo(int64_t dimension) noexcept;

}  // namespace mercer::random
