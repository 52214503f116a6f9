// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Overflow-checked arithmetic on sizes that come from a caller or a file.
#pragma once

#include <cstdint>
#include <limits>

#include "base/error.h"

namespace mercer {

/// a*b, or OUT_OF_MEMORY: a product of sizes that overflows cannot be allocated either. Both must
/// be >= 0.
inline int64_t checked_multiply(int64_t a, int64_t b, const char* what) {
  int64_t product = 0;
  require(!__builtin_mul_overflow(a, b, &product), MERCER_OUT_OF_MEMORY,
          "%s: %lld x %lld elements overflow 64 bits", what, static_cast<long long>(a),
          static_cast<long long>(b));
  return product;
}

inline int64_t checked_add(int64_t a, int64_t b, const char* what) {
  int64_t sum = 0;
  require(!__builtin_add_overflow(a, b, &sum), MERCER_OUT_OF_MEMORY,
          "%s: %lld + %lld elements overflow 64 bits", what, static_cast<long long>(a),
          static_cast<long long>(b));
  return sum;
}

}  // namespace mercer
