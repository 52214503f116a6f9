// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Streams: Philox by its known answers, seeds of children, independence of neighbours.
#include "random/stream.h"
#include "samplers.h"
#include "support/catch.h"
#include "support/reference.h"
#include "support/statistic.h"

namespace streams_test {
using namespace mercer::random;
using namespace mercer;
using random::child_seed;
using namespace mercer::test;

TEST_CASE("philox: known answers") {
  const auto vectors = mercer::test::oracle("philox")["vectors"];
  REQUIRE(vectors.size() >= 3);
  for (const auto& vector : vectors) {
    const auto counter = vector["counter"].get<std::array<uint32_t, 4>>();
    const auto key = vector["key"].get<std::array<uint32_t, 2>>();
    CHECK(philox4x32(counter, key) == vector["output"].get<std::array<uint32_t, 4>>());
  }
}

TEST_CASE("philox: a sequence is its blocks, across the carries of the counter") {
  for (const uint64_t low : {uint64_t{0}, uint64_t{0xfffffffe}, ~uint64_t{0} - 1}) {
    Stream stream;
    stream.seed = 9ull << 32 | 7;
    stream.id = 0x0123456789abcdef;
    std::vector<Words> out(5);
    stream.blocks(low, out);
    for (uint64_t i = 0; i < out.size(); ++i) {
      const uint64_t at = low + i;
      CHECK(out[i] == philox4x32({static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32),
                                  0x89abcdef, 0x01234567},
                                 {7, 9}));
    }
  }
}

TEST_CASE("stream: key is the seed, counter is position and id") {
  const Stream stream(0xaaaabbbbccccddddu, Tag::radius, 0x123456789abcu);
  CHECK(stream.id == 0x0005123456789abcu);
  const uint64_t position = 0x1111222233334444u;
  const Words expected =
      philox4x32({0x33334444, 0x11112222, 0x56789abc, 0x00051234}, {0xccccdddd, 0xaaaabbbb});
  CHECK(stream.block(position) == expected);
  std::vector<Words> blocks(3);
  stream.blocks(position - 1, blocks);
  CHECK(blocks[1] == expected);
  Cursor cursor(stream);
  cursor.skip(position);
  CHECK(cursor.next() == expected);
  CHECK(cursor.position() == position + 1);
}

TEST_CASE("a child's seed is the first half of the block of its tag, index and part") {
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

TEST_CASE("no two parts of no two seeds share a seed") {
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

TEST_CASE("neighbours among seeds, parts and indices differ in half their bits") {
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

constexpr size_t kCount = 200000;
constexpr double kPairs = 6;

std::vector<double> normals(const Stream& stream, uint64_t first = 0) {
  std::vector<double> out(kCount);
  fill_normal(stream, first, out);
  return out;
}

/// x y and (x^2 - 1)(y^2 - 1) have mean 0, variance 1 and 4 for independent normals.
void check_independent(const std::vector<double>& x, const std::vector<double>& y) {
  std::vector<double> products(kCount), squares(kCount);
  for (size_t i = 0; i < kCount; ++i) {
    products[i] = x[i] * y[i];
    squares[i] = (x[i] * x[i] - 1) * (y[i] * y[i] - 1);
  }
  const double z = z_threshold(kFailure, 2 * kPairs);
  CHECK(std::abs(mean_z_score(products, 0, 1)) < z);
  CHECK(std::abs(mean_z_score(squares, 0, 4)) < z);
}

TEST_CASE("streams: neighbours are independent") {
  const Stream base(7, Tag::frequency, 0);
  const auto x = normals(base);
  check_independent(x, normals(Stream(7, Tag::frequency, 1)));
  check_independent(x, normals(Stream(7, Tag::phase, 0)));
  check_independent(x, normals(Stream(8, Tag::frequency, 0)));
  check_independent(x, normals(Stream(7 + (uint64_t{1} << 32), Tag::frequency, 0)));
  check_independent(x, normals(base, 1));  // the neighbouring variate
  check_independent(x, normals(base, 2));  // the neighbouring block
}

}  // namespace streams_test
