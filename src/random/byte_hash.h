// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A number for the bytes of doubles: what known answers compare.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace mercer::random {

/// FNV-1a over the bytes, little end first.
inline uint64_t fnv1a(std::span<const double> values) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const double value : values) {
    const auto bits = std::bit_cast<uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte)
      hash = (hash ^ (bits >> (8 * byte) & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

}  // namespace mercer::random
