// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The layout of a block's key and counter (SPEC section 13), which is part of the meaning of a
// seed.
#include "random/stream.h"

#include "random/philox.h"

namespace mercer::random {
namespace {

constexpr uint32_t low_word(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t high_word(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

}  // namespace

Words Stream::block(uint64_t position) const noexcept {
  return philox4x32({low_word(position), high_word(position), low_word(id), high_word(id)},
                    {low_word(seed), high_word(seed)});
}

void Stream::blocks(uint64_t first, std::span<Words> out) const noexcept {
  philox4x32_sequence(first, id, {low_word(seed), high_word(seed)}, out);
}

}  // namespace mercer::random
