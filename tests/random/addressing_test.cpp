// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Variate i is a function of (stream, i) alone: formulas against the words, any split, far
// positions, change alarms.
#include "random/sampler_table.h"
#include "random/scalar_math.h"
#include "samplers.h"
#include "support/catch.h"

namespace addressing_test {
using namespace mercer::random;
using mercer::random::fnv1a;

TEST_CASE("uniform: ((w >> 11) + 1/2) 2^-53 of words 0, 1 and 2, 3, inside (0, 1)") {
  // The formula holds exactly up to 1/2; above, the half is rounded to even, and 1 becomes the
  // double below it.
  CHECK(uniform({0, 0, 0, 0}) == 0x1p-54);
  CHECK(uniform({0x7ff, 0, 0, 0}) == 0x1p-54);
  CHECK(uniform({0x800, 0, 0, 0}) == 1.5 * 0x1p-53);
  CHECK(second_uniform({0, 0, 0x800, 0}) == 1.5 * 0x1p-53);
  CHECK(uniform({0xffffffff, 0x7fffffff, 0, 0}) == 0.5 - 0x1p-54);
  CHECK(uniform({0, 0x80000000, 0, 0}) == 0.5);
  CHECK(uniform({0xfffff000, 0xffffffff, 0, 0}) == 1.0 - 0x1p-52);
  CHECK(uniform({0xffffffff, 0xffffffff, 0, 0}) == 1.0 - 0x1p-53);
  CHECK(second_uniform({0, 0, 0xffffffff, 0xffffffff}) == 1.0 - 0x1p-53);

  const Stream stream = test_stream(0);
  std::vector<double> out(999);
  fill_uniform(stream, 0, out);
  int wrong = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    const Words words = stream.block(i / 2);
    const uint64_t w = static_cast<uint64_t>(words[2 * (i % 2) + 1]) << 32 | words[2 * (i % 2)];
    const double formula = (static_cast<double>(w >> 11) + 0.5) / 9007199254740992.0;
    wrong += out[i] != formula || out[i] != (i % 2 == 0 ? uniform(words) : second_uniform(words));
  }
  CHECK(wrong == 0);
}

TEST_CASE("normal: the two Box-Muller variates of a block") {
  const Stream stream = test_stream(1);
  std::vector<double> out(200);
  fill_normal(stream, 0, out);
  Cursor cursor(stream);
  int wrong = 0;
  for (size_t block = 0; block < 100; ++block) {
    const Words words = stream.block(block);
    const double radius = std::sqrt(-2.0 * portable_log(uniform(words)));
    const SinCos angle = portable_sincos_turns(second_uniform(words));
    wrong += out[2 * block] != radius * angle.cos || out[2 * block + 1] != radius * angle.sin;
    wrong += normal(cursor) != out[2 * block];
  }
  CHECK(wrong == 0);
}

TEST_CASE("rademacher: bits of a block from the lowest up") {
  const Stream stream = test_stream(2);
  std::vector<double> signs(300), units(2 * 150);
  fill_rademacher(stream, 0, signs);
  fill_complex_rademacher(stream, 0, units);
  int wrong = 0;
  const auto bit = [&](size_t i) { return stream.block(i / 128)[i % 128 / 32] >> (i % 32) & 1; };
  for (size_t i = 0; i < 300; ++i) wrong += signs[i] != (bit(i) ? -1.0 : 1.0);
  for (size_t i = 0; i < 150; ++i) {
    const double value = bit(2 * i) ? -1.0 : 1.0;
    const bool imaginary = bit(2 * i + 1);
    wrong +=
        units[2 * i] != (imaginary ? 0.0 : value) || units[2 * i + 1] != (imaginary ? value : 0.0);
  }
  CHECK(wrong == 0);
}

TEST_CASE("fill: any split of a range gives the same bytes") {
  constexpr size_t kCount = 700;
  for (const Sampler& sampler : kSamplers) {
    INFO(sampler.name);
    const Stream stream = test_stream(3);
    const auto whole = draw(sampler, stream, 0, kCount);
    for (const size_t length : {1, 2, 3, 63, 64, 65, 127, 128, 129, 257}) {
      std::vector<double> pieces;
      for (size_t first = 0; first < kCount; first += length) {
        const auto piece = draw(sampler, stream, first, std::min(length, kCount - first));
        pieces.insert(pieces.end(), piece.begin(), piece.end());
      }
      INFO("length " << length);
      CHECK(fnv1a(pieces) == fnv1a(whole));
      CHECK(pieces == whole);
    }
    CHECK(draw(sampler, stream, 5, 0).empty());
  }
}

TEST_CASE("fill: positions beyond 2^32 and 2^33 are other blocks, addressed the same way") {
  for (const Sampler& sampler : kSamplers) {
    INFO(sampler.name);
    const Stream stream = test_stream(4);
    const uint64_t seam = (uint64_t{1} << 32) * sampler.per_block;  // block 2^32 begins here
    const size_t before = 2 * sampler.per_block + 1, width = static_cast<size_t>(sampler.width);
    const auto across = draw(sampler, stream, seam - before, 600);
    const auto after = draw(sampler, stream, seam, 600 - before);
    const std::vector<double> tail(across.begin() + static_cast<ptrdiff_t>(before * width),
                                   across.end());
    CHECK(tail == after);
    CHECK(after != draw(sampler, stream, 0, 600 - before));
  }
}

// Only an alarm: it says that bytes changed, not which are right. A change breaks every saved seed
// and needs a new file-format version; then copy the printed numbers to random/sampler_table.h.
TEST_CASE("fill: change alarm") {
  for (const Sampler& sampler : kSamplers) {
    INFO(sampler.name);
    CHECK(found_answer(sampler) == sampler.answer);
  }
  for (const CursorSampler& sampler : kCursorSamplers) {
    INFO(sampler.name);
    CHECK(found_answer(sampler) == sampler.answer);
  }
}

}  // namespace addressing_test
