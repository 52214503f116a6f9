// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Hamming distances between all codes of one set and all of another. Codes are packed 64 bits to a
// word, unused bits are 0.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Codes of B side by side in a turned block.
inline constexpr int64_t kTurnedCodes = 32;
/// Words of a code turned at a time.
inline constexpr int64_t kTurnedWords = 512;
/// Size of a turned block, which is 64-byte aligned.
inline constexpr int64_t kTurnedBytes = kTurnedCodes * kTurnedWords * 8;

/// Turns words [0, depth) of `count` <= kTurnedCodes codes, code i at B + i words; missing codes
/// are zeros. depth <= kTurnedWords.
void turn_codes(const uint64_t* B, int64_t words, int64_t depth, int64_t count,
                uint32_t* turned) noexcept;

/// out[i ld + j] = (or += on request) the number of bits in which words [0, depth) of code i of A
/// (at A + i words, i < n) and of turned code j < count differ.
struct HammingBlock {
  const uint64_t* A;
  int64_t words;
  int64_t depth;
  int64_t n;
  const uint32_t* turned;
  int64_t count;
  bool accumulate;
  int32_t* out;
  int64_t ld;
};
void hamming_block(const HammingBlock& block) noexcept;

// Numbers above thresholds, as bits packed 64 to a word.

/// Bit j mod 64 of words[j / 64] = z[j] > threshold[j], j in [0, count); unused bits of the last
/// word are 0. z is finite or NaN; returns whether no z is NaN.
bool sign_bits(const float* z, const float* threshold, int64_t count, uint64_t* words) noexcept;
bool sign_bits(const double* z, const double* threshold, int64_t count, uint64_t* words) noexcept;

}  // namespace mercer::transform
