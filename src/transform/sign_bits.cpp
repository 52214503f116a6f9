// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/sign_bits.cpp"
#include "transform/simd.h"
//
#include "transform/sign_bits.h"

MERCER_SIMD_BEGIN();

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

MERCER_SIMD_EXPORT(SignBits);

bool sign_bits(const float* z, const float* threshold, int64_t count, uint64_t* words) noexcept {
  return HWY_DYNAMIC_DISPATCH(SignBitsF32)(z, threshold, count, words);
}
bool sign_bits(const double* z, const double* threshold, int64_t count, uint64_t* words) noexcept {
  return HWY_DYNAMIC_DISPATCH(SignBitsF64)(z, threshold, count, words);
}

}  // namespace mercer::transform
#endif
