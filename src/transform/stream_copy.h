// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Copies that write around the caches: for results larger than the last-level cache, where an
// ordinary store would first read the line it overwrites.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Results larger than this do not stay in a last-level cache anyway: write around it.
inline constexpr int64_t kStreamBytes = int64_t{32} << 20;

/// to[0..count) = from[0..count); whole cache lines of `to` are streamed, the rest is stored.
/// Follow the last call on a thread by finish_streaming.
void stream_copy(const float* from, int64_t count, float* to) noexcept;
void stream_copy(const double* from, int64_t count, double* to) noexcept;

/// Makes what this thread has streamed visible to others.
void finish_streaming() noexcept;

}  // namespace mercer::transform
