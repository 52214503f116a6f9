// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Uniform reals and integers. Integers below n: Lemire, "Fast random integer generation in an
// interval", ACM TOMACS 29 (2019), algorithm 5, on 64-bit words.
#include <initializer_list>

#include "random/block_fill.h"
#include "random/distributions.h"

namespace mercer::random {

double uniform(const Words& words) noexcept { return open_uniform(words[0], words[1]); }
double second_uniform(const Words& words) noexcept { return open_uniform(words[2], words[3]); }

std::optional<uint64_t> uniform_below(const Words& words, uint64_t n) noexcept {
  for (size_t half : {0, 2}) {
    const uint64_t w = static_cast<uint64_t>(words[half + 1]) << 32 | words[half];
    const auto product = static_cast<unsigned __int128>(w) * n;
    const auto low = static_cast<uint64_t>(product);
    // Low parts below 2^64 mod n, which is below n, occur once too often.
    if (low >= n || low >= (0 - n) % n) return static_cast<uint64_t>(product >> 64);
  }
  return std::nullopt;
}

uint64_t uniform_below(Cursor& cursor, uint64_t n) noexcept {
  while (true)
    if (const std::optional<uint64_t> drawn = uniform_below(cursor.next(), n)) return *drawn;
}

void fill_uniform(const Stream& stream, uint64_t first, std::span<double> out) noexcept {
  fill_pairs(stream, first, out, uniform_pair);
}

}  // namespace mercer::random
