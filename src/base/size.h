// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Overflow-checked arithmetic on sizes that come from a caller or a file.
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.h"

namespace mercer {

/// OUT_OF_MEMORY: a number of elements that overflows cannot be allocated either.
inline void require_fits(bool overflows, int64_t a, char sign, int64_t b, const char* what) {
  require(!overflows, MERCER_OUT_OF_MEMORY, "%s: %ld %c %ld elements overflow 64 bits", what, a,
          sign, b);
}

/// a*b, or OUT_OF_MEMORY. Both must be >= 0.
inline int64_t checked_multiply(int64_t a, int64_t b, const char* what) {
  int64_t product = 0;
  require_fits(__builtin_mul_overflow(a, b, &product), a, 'x', b, what);
  return product;
}

/// a / b rounded up, for a >= 0 and b > 0.
constexpr int64_t ceil_divide(int64_t a, int64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}
/// The least multiple of b that is at least a; of 16 where rows begin on a cache line of floats.
constexpr int64_t round_up(int64_t a, int64_t b = 16) noexcept { return ceil_divide(a, b) * b; }

inline int64_t checked_add(int64_t a, int64_t b, const char* what) {
  int64_t sum = 0;
  require_fits(__builtin_add_overflow(a, b, &sum), a, '+', b, what);
  return sum;
}

}  // namespace mercer
