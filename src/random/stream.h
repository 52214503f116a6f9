// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Streams: randomness as a value. A block of four words is a function of (seed, stream id,
// position) alone, hence the same on every machine, for every number of threads and every order of
// use. The layout (stream.cpp) never changes within a file-format version.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace mercer::random {

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011).

/// The four output words for a counter and a key. No other function calls Random123.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) noexcept;

/// The purpose of a stream. Numbers are part of the meaning of a seed: never reuse or renumber
/// them.
enum class Tag : uint16_t {
  frequency = 1,    // columns of W (index: column)
  phase = 2,        // b (index 0; position: column)
  sign = 3,         // Rademacher diagonals (index: block)
  permutation = 4,  // (index: block)
  radius = 5,       // row norms of structured blocks (index: block or column)
  direction = 6,    // orthogonal blocks (index: block)
  gaussian = 7,     // Gaussian diagonals and circulants (index: block)
  scramble = 8,     // low-discrepancy scrambling (index: dimension)
  hash = 9,         // CountSketch buckets
  sample = 10,      // rows chosen from data
  split = 11,       // held-out rows, folds
  generated = 12,   // built-in generated data sets, tests
  child = 13,       // seeds of parts (index: of the part; position: its kind)
  probe = 14        // sign vectors that estimate a trace
};

using Words = std::array<uint32_t, 4>;

struct Stream {
  uint64_t seed = 0;
  uint64_t id = 0;  // 2^48 tag + index

  Stream() = default;
  /// index < 2^48.
  Stream(uint64_t seed_in, Tag tag, uint64_t index) noexcept
      : seed(seed_in), id((static_cast<uint64_t>(tag) << 48) + index) {}

  /// Block number `position`: key (seed low, seed high), counter (position low, high, id low,
  /// high).
  Words block(uint64_t position) const noexcept;

  /// out[i] = block(first + i), the sum modulo 2^64; faster than one by one.
  void blocks(uint64_t first, std::span<Words> out) const noexcept;
};

/// Reads a stream block by block from position 0, for rejection samplers. Copyable, not for
/// concurrent use.
class Cursor {
 public:
  explicit Cursor(const Stream& stream) noexcept : stream_(stream) {}
  Words next() noexcept { return stream_.block(position_++); }
  uint64_t position() const noexcept { return position_; }
  const Stream& stream() const noexcept { return stream_; }
  void skip(uint64_t blocks) noexcept { position_ += blocks; }

 private:
  Stream stream_;
  uint64_t position_ = 0;
};

// Seeds of the parts of a composed map.

/// The seed of part number `index`, of kind `part`, of a map with this seed: a function of the
/// three by Philox under its own tag, so that no two parts share random numbers with each other or
/// with the whole. index < 2^48.
uint64_t child_seed(uint64_t seed, uint64_t part, uint64_t index) noexcept;

}  // namespace mercer::random
