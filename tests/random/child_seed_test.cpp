// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Seeds of parts: known answers, no collisions, no bit that follows from a neighbour's.
#include "random/child_seed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "random/philox.h"
#include "random/stream.h"
#include "support/catch.h"

using namespace mercer;
using random::child_seed;

TEST_CASE("a child's seed is the first half of the block of its tag, index and part", "[random]") {
  for (const uint64_t seed : {uint64_t{0}, uint64_t{42}, ~uint64_t{0}}) {
    for (const uint64_t part : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 40}) {
      for (const uint64_t index : {uint64_t{0}, uint64_t{7}, (uint64_t{1} << 48) - 1}) {
        const uint64_t id = (uint64_t{13} << 48) + index;
        const auto words =
            random::philox4x32({static_cast<uint32_t>(part), static_cast<uint32_t>(part >> 32),
                                static_cast<uint32_t>(id), static_cast<uint32_t>(id >> 32)},
                               {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
        CHECK(child_seed(seed, part, index) == (words[0] | uint64_t{words[1]} << 32));
      }
    }
  }
}

TEST_CASE("no two parts of no two seeds share a seed", "[random]") {
  // 2^18 random words of 64 bits collide with probability 2^35 / 2^64 = 2e-9.
  std::vector<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    seeds.push_back(seed);
    for (uint64_t part = 0; part < 16; ++part) {
      for (uint64_t index = 0; index < 4096; ++index) {
        seeds.push_back(child_seed(seed, part, index));
      }
    }
  }
  std::sort(seeds.begin(), seeds.end());
  CHECK(std::adjacent_find(seeds.begin(), seeds.end()) == seeds.end());
}

TEST_CASE("neighbours among seeds, parts and indices differ in half their bits", "[random]") {
  constexpr int64_t kPairs = 1 << 14;
  const auto share = [&](auto&& differing) {
    int64_t bits = 0;
    for (uint64_t i = 0; i < kPairs; ++i) bits += std::popcount(differing(i));
    return static_cast<double>(bits);
  };
  // 64 kPairs fair coins: six standard deviations, missed with probability 2e-9.
  const double mean = 32.0 * kPairs, width = 6 * std::sqrt(16.0 * kPairs);
  CHECK(std::fabs(share([](uint64_t i) { return child_seed(1, 2, i) ^ child_seed(1, 2, i + 1); }) -
                  mean) < width);
  CHECK(std::fabs(share([](uint64_t i) { return child_seed(1, i, 2) ^ child_seed(1, i + 1, 2); }) -
                  mean) < width);
  CHECK(std::fabs(share([](uint64_t i) { return child_seed(i, 1, 2) ^ child_seed(i + 1, 1, 2); }) -
                  mean) < width);
}
