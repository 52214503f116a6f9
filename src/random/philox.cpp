// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Philox4x32-10 from Random123 (Salmon, Moraes, Dror, Shaw, SC 2011), which only this file
// includes.
#include "random/philox.h"

#include <Random123/philox.h>
#undef philox4x32  // a macro of Random123

namespace mercer::random {
namespace {

inline std::array<uint32_t, 4> encrypt(philox4x32_ctr_t counter, philox4x32_key_t key) noexcept {
  const philox4x32_ctr_t words = philox4x32_R(10, counter, key);
  return {words.v[0], words.v[1], words.v[2], words.v[3]};
}

}  // namespace

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) noexcept {
  return encrypt({{counter[0], counter[1], counter[2], counter[3]}}, {{key[0], key[1]}});
}

void philox4x32_sequence(uint64_t low, uint64_t high, std::array<uint32_t, 2> key,
                         std::span<std::array<uint32_t, 4>> out) noexcept {
  const auto high_low = static_cast<uint32_t>(high), high_high = static_cast<uint32_t>(high >> 32);
  for (auto& words : out) {
    words = encrypt(
        {{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), high_low, high_high}},
        {{key[0], key[1]}});
    ++low;
  }
}

}  // namespace mercer::random
