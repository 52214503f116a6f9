// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Feature hashing of wide sparse rows: prepared input j is added, times a random sign, to one of
// few buckets. Squared distances are unbiased; their relative deviation is at most sqrt(2/buckets)
// if no input outweighs the others. Without hashing a map would store frequencies for every input.
// Source: Weinberger, Dasgupta, Langford, Smola, Attenberg 2009 (hashing trick, with signs).
#pragma once

#include <cstdint>

#include "random/stream.h"

namespace mercer::model {

struct Hashing {
  int64_t inputs = 0;   // original ones
  int64_t buckets = 0;  // a power of two; 0: no hashing
  uint64_t seed = 0;

  struct Place {
    int64_t bucket;
    double sign;
  };
  Place of(int64_t prepared) const noexcept {
    // Distinct from the streams of sketches, which count from 0.
    constexpr uint64_t kStream = uint64_t{1} << 47;
    const random::Words words =
        random::Stream(seed, random::Tag::hash, kStream).block(static_cast<uint64_t>(prepared));
    return {static_cast<int64_t>(words[0]) & (buckets - 1), (words[1] & 1) != 0 ? 1.0 : -1.0};
  }
};

/// A fit hashes sparse rows wider than this to kHashBuckets, for an isotropic kernel or one of inner
/// products, whose projection is not given.
inline constexpr int64_t kMostPlainInputs = int64_t{1} << 15;
inline constexpr int64_t kHashBuckets = int64_t{1} << 14;

}  // namespace mercer::model
