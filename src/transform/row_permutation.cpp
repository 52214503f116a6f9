// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/row_permutation.cpp"
#include "transform/simd.h"
//
#include "transform/row_permutation.h"

MERCER_SIMD_BEGIN();

#if HWY_TARGET == HWY_SCALAR

template <class T>
void InterleaveRows(const T* in, int64_t ld, int64_t n, T* out) {
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t r = 0; r < kPermutedRows<T>; ++r) out[k * kPermutedRows<T> + r] = in[r * ld + k];
  }
}

template <class T, class I>
void PermuteRows(const T* in, const I* index, int64_t n, T* out, int64_t ld) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t r = 0; r < kPermutedRows<T>; ++r)
      out[r * ld + i] = in[index[i] * kPermutedRows<T> + r];
  }
}

#else

HWY_INLINE void InterleaveRows(const float* in, int64_t ld, int64_t n, float* out) {
  const Tag<float> tag;
  for (int64_t k = 0; k < n; k += static_cast<int64_t>(hn::Lanes(tag))) {
    hn::StoreInterleaved4(hn::LoadU(tag, in + k), hn::LoadU(tag, in + ld + k),
                          hn::LoadU(tag, in + 2 * ld + k), hn::LoadU(tag, in + 3 * ld + k), tag,
                          out + 4 * k);
  }
}
HWY_INLINE void InterleaveRows(const double* in, int64_t ld, int64_t n, double* out) {
  const Tag<double> tag;
  for (int64_t k = 0; k < n; k += static_cast<int64_t>(hn::Lanes(tag)))
    hn::StoreInterleaved2(hn::LoadU(tag, in + k), hn::LoadU(tag, in + ld + k), tag, out + 2 * k);
}

// Block b of 16 bytes holds element index[b kPermutedRows].
template <class D, class T, class I>
HWY_INLINE hn::Vec<D> LoadElements(D tag, const T* in, const I* index) {
  if constexpr (hn::MaxLanes(D()) == kPermutedRows<T>) {
    return hn::Load(tag, in + index[0] * kPermutedRows<T>);
  } else {
    const hn::Half<D> half;
    return hn::Combine(tag, LoadElements(half, in, index + hn::MaxLanes(half)),
                       LoadElements(half, in, index));
  }
}

HWY_INLINE void PermuteRows(const float* in, const int32_t* index, int64_t n, float* out,
                            int64_t ld) {
  const Tag<float> tag;
  const hn::Repartition<double, decltype(tag)> wide;
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(tag))) {
    const auto a = LoadElements(tag, in, index + i), b = LoadElements(tag, in, index + i + 1);
    const auto c = LoadElements(tag, in, index + i + 2), d = LoadElements(tag, in, index + i + 3);
    const auto ab = hn::BitCast(wide, hn::InterleaveLower(tag, a, b));
    const auto cd = hn::BitCast(wide, hn::InterleaveLower(tag, c, d));
    const auto AB = hn::BitCast(wide, hn::InterleaveUpper(tag, a, b));
    const auto CD = hn::BitCast(wide, hn::InterleaveUpper(tag, c, d));
    hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(wide, ab, cd)), tag, out + i);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(wide, ab, cd)), tag, out + ld + i);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveLower(wide, AB, CD)), tag, out + 2 * ld + i);
    hn::StoreU(hn::BitCast(tag, hn::InterleaveUpper(wide, AB, CD)), tag, out + 3 * ld + i);
  }
}
HWY_INLINE void PermuteRows(const double* in, const int64_t* index, int64_t n, double* out,
                            int64_t ld) {
  const Tag<double> tag;
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(hn::Lanes(tag))) {
    const auto a = LoadElements(tag, in, index + i), b = LoadElements(tag, in, index + i + 1);
    hn::StoreU(hn::InterleaveLower(tag, a, b), tag, out + i);
    hn::StoreU(hn::InterleaveUpper(tag, a, b), tag, out + ld + i);
  }
}

#endif

void InterleaveF32(const float* in, int64_t ld, int64_t n, float* out) {
  InterleaveRows(in, ld, n, out);
}
void InterleaveF64(const double* in, int64_t ld, int64_t n, double* out) {
  InterleaveRows(in, ld, n, out);
}
void PermuteF32(const float* in, const int32_t* index, int64_t n, float* out, int64_t ld) {
  PermuteRows(in, index, n, out, ld);
}
void PermuteF64(const double* in, const int64_t* index, int64_t n, double* out, int64_t ld) {
  PermuteRows(in, index, n, out, ld);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Interleave);
MERCER_SIMD_EXPORT(Permute);

void interleave_rows(const float* in, int64_t ld, int64_t n, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleaveF32)(in, ld, n, out);
}
void interleave_rows(const double* in, int64_t ld, int64_t n, double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleaveF64)(in, ld, n, out);
}
void permute_rows(const float* in, const int32_t* index, int64_t n, float* out,
                  int64_t ld) noexcept {
  HWY_DYNAMIC_DISPATCH(PermuteF32)(in, index, n, out, ld);
}
void permute_rows(const double* in, const int64_t* index, int64_t n, double* out,
                  int64_t ld) noexcept {
  HWY_DYNAMIC_DISPATCH(PermuteF64)(in, index, n, out, ld);
}

}  // namespace mercer::transform
#endif
