// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The common loop of the samplers, a batch of blocks at a time: variate i is made from the first or
// second half of block i / 2.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "random/stream.h"

namespace mercer::random {

using Pair = std::array<double, 2>;

/// ((w >> 11) + 1/2) 2^-53, w = low + 2^32 high. Above 1/2 the half is rounded away (ties to even),
/// and the largest w would give 1: the largest double below 1 replaces it.
inline double open_uniform(uint32_t low, uint32_t high) noexcept {
  const uint64_t w = static_cast<uint64_t>(high) << 32 | low;
  const double u = (static_cast<double>(static_cast<int64_t>(w >> 11)) + 0.5) * 0x1p-53;
  return std::min(u, 1.0 - 0x1p-53);
}

inline Pair uniform_pair(const Words& words) noexcept {
  return {open_uniform(words[0], words[1]), open_uniform(words[2], words[3])};
}

/// out[i] = pair_of(block (first + i) / 2)[(first + i) % 2].
template <class PairOf>
void fill_pairs(const Stream& stream, uint64_t first, std::span<double> out,
                PairOf pair_of) noexcept {
  if (out.empty()) return;
  uint64_t position = first / 2;
  if (first % 2 == 1) {
    out[0] = pair_of(stream.block(position++))[1];
    out = out.subspan(1);
  }
  constexpr size_t kBatch = 64;
  std::array<Words, kBatch> batch;
  while (out.size() > 1) {
    const size_t count = std::min(kBatch, out.size() / 2);
    stream.blocks(position, {batch.data(), count});
    for (size_t i = 0; i < count; ++i) {
      const Pair pair = pair_of(batch[i]);
      out[2 * i] = pair[0];
      out[2 * i + 1] = pair[1];
    }
    position += count;
    out = out.subspan(2 * count);
  }
  if (!out.empty()) out[0] = pair_of(stream.block(position))[0];
}

}  // namespace mercer::random
