// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/fwht.cpp"
#include "transform/simd.h"
//
#include "transform/fwht-inl.h"
#include "transform/fwht.h"

MERCER_SIMD_BEGIN();

template <class T>
HWY_INLINE void Fwht(T* x, int64_t n, int64_t count) {
  for (int64_t c = 0; c < count; ++c)
    OneTransform<Entry::plain>(Tag<T>(), x + c * n, x, x + c * n, n);
}
// Parts of complex signs may be zero, so they multiply.
template <class T>
HWY_INLINE void SignedFwht(const T* in, int64_t in_step, const T* signs, T* out, int64_t n,
                           int64_t count) {
  for (int64_t c = 0; c < count; ++c)
    OneTransform<Entry::product>(Tag<T>(), in + c * in_step, signs + c * n, out + c * n, n);
}

// Lanes of a vector belong to different transforms: only stages across vectors are left. An element
// that is no whole cache line takes shorter vectors.
template <class T>
HWY_INLINE void Interleaved(T* x, int64_t n, int64_t width) {
  if (width % (64 / sizeof(T)) == 0) return RemainingStages(Tag<T>(), x, width, n * width);
  RemainingStages(hn::CappedTag<T, 32 / sizeof(T)>(), x, width, n * width);
}
template <class T>
HWY_INLINE void Eight(T* x, int64_t n, int64_t width) {
  if (width % (64 / sizeof(T)) == 0) return Combine<8>(Tag<T>(), x, n / 8 * width, n * width);
  Combine<8>(hn::CappedTag<T, 32 / sizeof(T)>(), x, n / 8 * width, n * width);
}

void InterleavedF32(float* x, int64_t n, int64_t width) { Interleaved(x, n, width); }
void InterleavedF64(double* x, int64_t n, int64_t width) { Interleaved(x, n, width); }
void EightF32(float* x, int64_t n, int64_t width) { Eight(x, n, width); }
void EightF64(double* x, int64_t n, int64_t width) { Eight(x, n, width); }
void FwhtF32(float* x, int64_t n, int64_t count) { Fwht(x, n, count); }
void FwhtF64(double* x, int64_t n, int64_t count) { Fwht(x, n, count); }
void SignedFwhtF32(const float* in, int64_t in_step, const float* signs, float* out, int64_t n,
                   int64_t count) {
  SignedFwht(in, in_step, signs, out, n, count);
}
void SignedFwhtF64(const double* in, int64_t in_step, const double* signs, double* out, int64_t n,
                   int64_t count) {
  SignedFwht(in, in_step, signs, out, n, count);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Interleaved);
MERCER_SIMD_EXPORT(Eight);
MERCER_SIMD_EXPORT(Fwht);
MERCER_SIMD_EXPORT(SignedFwht);

void fwht(float* x, int64_t n, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(FwhtF32)(x, n, count);
}
void fwht(double* x, int64_t n, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(FwhtF64)(x, n, count);
}
void fwht_interleaved(float* x, int64_t n, int64_t width) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleavedF32)(x, n, width);
}
void fwht_interleaved(double* x, int64_t n, int64_t width) noexcept {
  HWY_DYNAMIC_DISPATCH(InterleavedF64)(x, n, width);
}
void fwht_interleaved_eight(float* x, int64_t n, int64_t width) noexcept {
  HWY_DYNAMIC_DISPATCH(EightF32)(x, n, width);
}
void fwht_interleaved_eight(double* x, int64_t n, int64_t width) noexcept {
  HWY_DYNAMIC_DISPATCH(EightF64)(x, n, width);
}
void signed_fwht(const float* in, int64_t in_step, const float* signs, float* out, int64_t n,
                 int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(SignedFwhtF32)(in, in_step, signs, out, n, count);
}
void signed_fwht(const double* in, int64_t in_step, const double* signs, double* out, int64_t n,
                 int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(SignedFwhtF64)(in, in_step, signs, out, n, count);
}

}  // namespace mercer::transform
#endif
