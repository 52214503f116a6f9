// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Hamming distances of binary codes, all of one set against all of another. Codes are packed 64
// bits to a word, bits past the last are 0.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// Codes of B that stand side by side in a turned block.
inline constexpr int64_t kTurnedCodes = 32;
/// Words of a code that are turned at a time.
inline constexpr int64_t kTurnedWords = 512;
/// Bytes of a turned block: 64-byte aligned.
inline constexpr int64_t kTurnedBytes = kTurnedCodes * kTurnedWords * 8;

/// Words [0, depth) of `count` <= kTurnedCodes codes, code i at B + i words: those past the last
/// are zeros. depth <= kTurnedWords.
void turn_codes(const uint64_t* B, int64_t words, int64_t depth, int64_t count,
                uint32_t* turned) noexcept;

/// out[i ld + j] = (or +=, if so asked) the bits in which words [0, depth) of code i of A (at A + i
/// words, i < n) and of turned code j < count differ.
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

}  // namespace mercer::transform
