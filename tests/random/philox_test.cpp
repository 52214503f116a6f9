// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Philox against known answers, and the layout of streams over it.
#include "random/philox.h"

#include <vector>

#include "random/stream.h"
#include "support/catch.h"
#include "support/reference.h"

using namespace mercer::random;

TEST_CASE("philox: known answers", "[random]") {
  const auto vectors = mercer::test::oracle("philox")["vectors"];
  REQUIRE(vectors.size() >= 3);
  for (const auto& vector : vectors) {
    const auto counter = vector["counter"].get<std::array<uint32_t, 4>>();
    const auto key = vector["key"].get<std::array<uint32_t, 2>>();
    CHECK(philox4x32(counter, key) == vector["output"].get<std::array<uint32_t, 4>>());
  }
}

TEST_CASE("philox: a sequence is its blocks, across the carries of the counter", "[random]") {
  for (const uint64_t low : {uint64_t{0}, uint64_t{0xfffffffe}, ~uint64_t{0} - 1}) {
    const uint64_t high = 0x0123456789abcdef;
    std::vector<std::array<uint32_t, 4>> out(5);
    philox4x32_sequence(low, high, {7, 9}, out);
    for (uint64_t i = 0; i < out.size(); ++i) {
      const uint64_t at = low + i;
      CHECK(out[i] == philox4x32({static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32),
                                  0x89abcdef, 0x01234567},
                                 {7, 9}));
    }
  }
}

TEST_CASE("stream: key is the seed, counter is position and id", "[random]") {
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
