// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lanes of a vector belong to different codes of B, so that nothing is summed across lanes: each
// 32-bit word of a few codes of A is compared with those of two vectors of codes of B. Bits are
// counted per byte, which every target can do; the byte counts of a few words are then summed to 32
// bits.
// Highway uses the bit counting instruction of AVX-512 BITALG only on request.
#define HWY_WANT_AVX3_DL
#define HWY_TARGET_INCLUDE "transform/bits.cpp"
#include "transform/simd.h"
//
#include <algorithm>
#include <cstring>

#include "transform/bits.h"

MERCER_SIMD_BEGIN();

using WordTag = hn::CappedTag<uint32_t, 16>;
using WordVector = hn::Vec<WordTag>;

#if HWY_TARGET == HWY_SCALAR
// Counts are per word, so no byte can overflow.
constexpr int64_t kWordsTogether = 2 * kTurnedWords;
using CountTag = WordTag;
HWY_INLINE WordVector SumOfCounts(WordVector counts) { return counts; }
#else
// A byte counts at most 8 bits a word: 31 counts are at most 248.
constexpr int64_t kWordsTogether = 31;
using CountTag = hn::Repartition<uint8_t, WordTag>;
// The sum of the four bytes of every lane.
HWY_INLINE WordVector SumOfCounts(hn::Vec<CountTag> counts) {
  const WordTag tag;
  const WordVector v = hn::BitCast(tag, counts), bytes = hn::Set(tag, 0x00FF00FFu);
  const WordVector pairs = hn::Add(hn::And(v, bytes), hn::And(hn::ShiftRight<8>(v), bytes));
  return hn::And(hn::Add(pairs, hn::ShiftRight<16>(pairs)), hn::Set(tag, 0xFFFFu));
}
#endif

HWY_INLINE uint32_t HalfWord(const unsigned char* code, int64_t w) {
  uint32_t word;
  std::memcpy(&word, code + 4 * w, sizeof word);
  return word;
}

// kRows codes of A against two vectors of codes of B; out[2 i] and out[2 i + 1] are the sums for
// code i.
template <int kRows>
HWY_INLINE void CountBits(const HammingBlock& block, const unsigned char* const (&a)[kRows],
                          const uint32_t* turned, WordVector (&sums)[2 * kRows]) {
  const WordTag tag;
  const CountTag count_tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag)), depth = 2 * block.depth;
#pragma GCC unroll 8
  for (int i = 0; i < 2 * kRows; ++i) sums[i] = hn::Zero(tag);
  for (int64_t first = 0; first < depth; first += kWordsTogether) {
    const int64_t end = HWY_MIN(first + kWordsTogether, depth);
    hn::Vec<CountTag> counts[2 * kRows];
#pragma GCC unroll 8
    for (int i = 0; i < 2 * kRows; ++i) counts[i] = hn::Zero(count_tag);
    for (int64_t w = first; w < end; ++w) {
      const WordVector low = hn::Load(tag, turned + w * kTurnedCodes);
      const WordVector high = hn::Load(tag, turned + w * kTurnedCodes + lanes);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const WordVector word = hn::Set(tag, HalfWord(a[i], w));
        const auto count = [&](WordVector other) HWY_ATTR {
          return hn::PopulationCount(hn::BitCast(count_tag, hn::Xor(word, other)));
        };
        counts[2 * i] = hn::Add(counts[2 * i], count(low));
        counts[2 * i + 1] = hn::Add(counts[2 * i + 1], count(high));
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < 2 * kRows; ++i) sums[i] = hn::Add(sums[i], SumOfCounts(counts[i]));
  }
}

template <int kRows>
HWY_INLINE int64_t SomeRows(const HammingBlock& block, int64_t i) {
  const WordTag tag;
  const hn::RebindToSigned<WordTag> signed_tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (; i + kRows <= block.n; i += kRows) {
    const unsigned char* a[kRows];
    for (int r = 0; r < kRows; ++r)
      a[r] = reinterpret_cast<const unsigned char*>(block.A + (i + r) * block.words);
    for (int64_t j = 0; j < block.count; j += 2 * lanes) {
      WordVector sums[2 * kRows];
      CountBits<kRows>(block, a, block.turned + j, sums);
      for (int r = 0; r < kRows; ++r) {
        HWY_ALIGN int32_t both[2 * hn::MaxLanes(tag)];
        int32_t* const to = block.out + (i + r) * block.ld + j;
        const int64_t some = HWY_MIN(2 * lanes, block.count - j);
        const bool whole = some == 2 * lanes;
        if (!whole)
          std::fill(std::copy_n(to, block.accumulate ? some : 0, both), std::end(both), 0);
        int32_t* const at = whole ? to : both;
        for (int v = 0; v < 2; ++v) {
          auto sum = hn::BitCast(signed_tag, sums[2 * r + v]);
          if (block.accumulate) sum = hn::Add(sum, hn::LoadU(signed_tag, at + v * lanes));
          hn::StoreU(sum, signed_tag, at + v * lanes);
        }
        if (!whole) std::copy_n(both, some, to);
      }
    }
  }
  return i;
}

void HammingOfBlock(const HammingBlock& block) {
  const int64_t i = SomeRows<4>(block, 0);
  SomeRows<1>(block, i);
}

// The bits of the first `count` numbers, a multiple of 64; `sum` becomes NaN if one is NaN.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void WholeWords(D tag, const T* z, const T* threshold, int64_t count, uint64_t* words,
                           hn::Vec<D>& sum) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  uint8_t* const bytes = reinterpret_cast<uint8_t*>(words);
  for (int64_t j = 0; j < count; j += HWY_MAX(lanes, int64_t{8})) {
    // Groups of fewer than 8 lanes are combined here, others written in place: reading them back
    // would wait for each store.
    uint8_t part[8] = {};
    for (int64_t i = 0; i < HWY_MAX(lanes, int64_t{8}); i += lanes) {
      const auto v = hn::LoadU(tag, z + j + i);
      sum = hn::MulAdd(v, hn::Zero(tag), sum);
      const auto above = hn::Gt(v, hn::LoadU(tag, threshold + j + i));
      if (lanes >= 8) {
        hn::StoreMaskBits(tag, above, bytes + j / 8);
      } else {
        hn::StoreMaskBits(tag, above, part + 1);
        part[0] = static_cast<uint8_t>(part[0] | part[1] << i);
      }
    }
    if (lanes < 8) bytes[j / 8] = part[0];
  }
}

template <class T>
HWY_INLINE bool SignBits(const T* z, const T* threshold, int64_t count, uint64_t* words) {
  const Tag<T> tag;
  const int64_t whole = count / 64 * 64;
  auto sum = hn::Zero(tag);
  WholeWords(tag, z, threshold, whole, words, sum);
  bool numbers = hn::AllTrue(tag, hn::Eq(sum, sum));
  if (whole == count) return numbers;
  uint64_t last = 0;
  for (int64_t j = whole; j < count; ++j) {
    last |= uint64_t{z[j] > threshold[j]} << (j - whole);
    numbers = numbers && z[j] == z[j];
  }
  words[whole / 64] = last;
  return numbers;
}

bool SignBitsF32(const float* z, const float* threshold, int64_t count, uint64_t* words) {
  return SignBits(z, threshold, count, words);
}
bool SignBitsF64(const double* z, const double* threshold, int64_t count, uint64_t* words) {
  return SignBits(z, threshold, count, words);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(HammingOfBlock);

void hamming_block(const HammingBlock& block) noexcept {
  HWY_DYNAMIC_DISPATCH(HammingOfBlock)(block);
}

// Turns 32-bit halves of words in memory order, as codes of A are read.
void turn_codes(const uint64_t* B, int64_t words, int64_t depth, int64_t count,
                uint32_t* turned) noexcept {
  for (int64_t w = 0; w < depth; ++w) {
    for (int64_t j = 0; j < kTurnedCodes; ++j) {
      uint32_t halves[2] = {};
      if (j < count) std::memcpy(halves, B + j * words + w, sizeof halves);
      turned[2 * w * kTurnedCodes + j] = halves[0];
      turned[(2 * w + 1) * kTurnedCodes + j] = halves[1];
    }
  }
}

MERCER_SIMD_EXPORT(SignBits);

bool sign_bits(const float* z, const float* threshold, int64_t count, uint64_t* words) noexcept {
  return HWY_DYNAMIC_DISPATCH(SignBitsF32)(z, threshold, count, words);
}
bool sign_bits(const double* z, const double* threshold, int64_t count, uint64_t* words) noexcept {
  return HWY_DYNAMIC_DISPATCH(SignBitsF64)(z, threshold, count, words);
}

}  // namespace mercer::transform
#endif
