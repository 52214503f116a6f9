// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011).
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace mercer::random {

/// The four output words for a counter and a key. No other function calls Random123.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) noexcept;

/// out[i] = the words for `key` and the counter whose low 64 bits are low + i (modulo 2^64) and
/// whose high 64 bits are high.
void philox4x32_sequence(uint64_t low, uint64_t high, std::array<uint32_t, 2> key,
                         std::span<std::array<uint32_t, 4>> out) noexcept;

}  // namespace mercer::random
