// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How many numbers leaving out rows of an operator-valued fit takes at once.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mercer::model {

inline constexpr int64_t kBlockNumbers = int64_t{1} << 18;  // products side by side
inline constexpr int64_t kLambdas = 32;                     // as many at once

/// Products of a row with q observed targets, and how many such rows stand side by side.
inline int64_t product_rows(int64_t q) { return q * (q + 3) / 2; }
inline int64_t product_block(int64_t q, int64_t k, int64_t rows) {
  return std::clamp<int64_t>(kBlockNumbers / (std::max<int64_t>(product_rows(q), 1) * k), 1,
                             std::max<int64_t>(rows, 1));
}

}  // namespace mercer::model
