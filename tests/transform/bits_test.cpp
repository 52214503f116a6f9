// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Bits from thresholds, and Hamming distances, against one bit at a time, on every target.
#include "transform/bits.h"

#include "base/aligned.h"
#include "random/stream.h"
#include "support/simd_target.h"

namespace bits_test {
using namespace mercer;
using namespace mercer::transform;

std::vector<uint64_t> random_words(int64_t count, uint64_t seed) {
  std::vector<uint64_t> words(count);
  const random::Stream stream(seed, random::Tag::generated, 0);
  for (size_t i = 0; i < words.size(); ++i) {
    const random::Words drawn = stream.block(i);
    words[i] = drawn[0] + (static_cast<uint64_t>(drawn[1]) << 32);
  }
  return words;
}

int64_t distance(const uint64_t* a, const uint64_t* b, int64_t words) {
  int64_t bits = 0;
  for (int64_t w = 0; w < words; ++w) bits += std::popcount(a[w] ^ b[w]);
  return bits;
}

/// Distances that are wrong, and numbers beside them that were touched.
int64_t faults(int64_t n, int64_t m, int64_t words, int64_t step) {
  std::vector<uint64_t> A = random_words(n * words, 1), B = random_words(m * words, 2);
  for (int64_t w = 0; w < words; ++w) {  // all bits differ, and none
    A[w] = ~uint64_t{0};
    B[w] = 0;
    A[(n - 1) * words + w] = B[(m - 1) * words + w];
  }
  const int64_t ld = m + 3;
  std::vector<int32_t> out(n * ld, -7);
  const AlignedBuffer<uint32_t> turned(kTurnedBytes / 4);
  for (int64_t w = 0; w < words; w += step) {
    const int64_t depth = std::min(step, words - w);
    turn_codes(B.data() + w, words, depth, m, turned.data());
    hamming_block({A.data() + w, words, depth, n, turned.data(), m, w > 0, out.data(), ld});
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < ld; ++j) {
      wrong += out[i * ld + j] !=
               (j < m ? distance(A.data() + i * words, B.data() + j * words, words) : -7);
    }
  }
  return wrong;
}

template <class T>
int64_t sign_faults(int64_t count) {
  std::vector<T> z(count), threshold(z.size());
  for (size_t j = 0; j < z.size(); ++j) {
    z[j] = static_cast<T>(std::sin(static_cast<double>(j)));
    threshold[j] = j % 5 == 0 ? z[j] : static_cast<T>(std::cos(3.0 * static_cast<double>(j)));
  }
  std::vector<uint64_t> words(count / 64 + 2, ~uint64_t{0});
  const bool numbers = sign_bits(z.data(), threshold.data(), count, words.data());
  int64_t wrong = !numbers;
  const int64_t last = (count + 63) / 64 * 64;
  for (int64_t j = 0; j < last; ++j) {
    const auto at = static_cast<size_t>(j);
    const bool expected = j < count && z[at] > threshold[at];
    wrong += (words[at / 64] >> (at % 64) & 1) != (expected ? 1 : 0);
  }
  wrong += words[last / 64] != ~uint64_t{0};
  for (size_t j = 0; j < z.size(); ++j) {
    const T kept = z[j];
    z[j] = std::numeric_limits<T>::quiet_NaN();
    wrong += sign_bits(z.data(), threshold.data(), count, words.data());
    z[j] = kept;
  }
  return wrong;
}

TEST_CASE("hamming: every pair of codes, awkward sizes, words in slices") {
  test::on_every_target([] {
    for (const int64_t n : {1, 4, 7}) {
      for (const int64_t m : {1, 15, 31, 32}) {
        for (const int64_t words : {1, 2, 16, 31, 33}) {
          CAPTURE(n, m, words);
          CHECK(faults(n, m, words, kTurnedWords) == 0);
          CHECK(faults(n, m, words, 5) == 0);
        }
      }
    }
    CHECK(faults(2, 3, kTurnedWords + 1, kTurnedWords) == 0);
  });
  // The target that the processor gets, which may be one that this file's tables do not know.
  for (const int64_t words : {1, 16, 33}) CHECK(faults(7, 31, words, 5) == 0);
}

TEST_CASE("sign bits: above the threshold, not at it; NaN is told of wherever it is") {
  test::on_every_target_in_both([](auto number) {
    for (const int64_t count : {1, 3, 16, 63, 64, 65, 200})
      CHECK(sign_faults<decltype(number)>(count) == 0);
  });
}

}  // namespace bits_test
