// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The first two words of the block at position `part` of stream (child, index).
#include "random/child_seed.h"

#include "random/stream.h"

namespace mercer::random {

uint64_t child_seed(uint64_t seed, uint64_t part, uint64_t index) noexcept {
  const Words words = Stream(seed, Tag::child, index).block(part);
  return words[0] | static_cast<uint64_t>(words[1]) << 32;
}

}  // namespace mercer::random
