// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One permutation of the columns of several rows. Within a row every number needs a load and a
// store; interleaved, kPermutedRows rows move together, 16 bytes at a time.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Rows permuted together.
template <class T>
inline constexpr int64_t kPermutedRows = 16 / static_cast<int64_t>(sizeof(T));

/// out[kPermutedRows k + r] = in[r ld + k], k in [0, n), n a multiple of 16. out is 16-byte aligned
/// and does not overlap in.
void interleave_rows(const float* in, int64_t ld, int64_t n, float* out) noexcept;
void interleave_rows(const double* in, int64_t ld, int64_t n, double* out) noexcept;

/// Permutes and inverts: out[r ld + i] = in[kPermutedRows index[i] + r], i in [0, n).
void permute_rows(const float* in, const int32_t* index, int64_t n, float* out,
                  int64_t ld) noexcept;
void permute_rows(const double* in, const int64_t* index, int64_t n, double* out,
                  int64_t ld) noexcept;

}  // namespace mercer::transform
