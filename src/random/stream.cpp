// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The layout of a block's key and counter, which is part of the meaning of a
// seed.
#include "random/stream.h"

#include <Random123/philox.h>

#undef philox4x32  // a macro of Random123

namespace mercer::random {
namespace {

// Philox4x32-10 from Random123 (Salmon, Moraes, Dror, Shaw, SC 2011), which only this file
// includes.
inline std::array<uint32_t, 4> encrypt(philox4x32_ctr_t counter, philox4x32_key_t key) noexcept {
  const philox4x32_ctr_t words = philox4x32_R(10, counter, key);
  return {words.v[0], words.v[1], words.v[2], words.v[3]};
}

constexpr uint32_t low_word(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t high_word(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

}  // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) noexcept {
  return encrypt({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
}

Words Stream::block(uint64_t position) const noexcept {
  return philox4x32({low_word(position), high_word(position), low_word(id), high_word(id)},
                    {low_word(seed), high_word(seed)});
}

void Stream::blocks(uint64_t first, std::span<Words> out) const noexcept {
  for (Words& words : out) {
    words = encrypt({{low_word(first), high_word(first), low_word(id), high_word(id)}},
                    {{low_word(seed), high_word(seed)}});
    ++first;
  }
}

// The first two words of the block at position `part` of stream (child, index).
uint64_t child_seed(uint64_t seed, uint64_t part, uint64_t index) noexcept {
  const Words words = Stream(seed, Tag::child, index).block(part);
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

}  // namespace mercer::random
