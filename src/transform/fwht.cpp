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
// Complex signs have parts that are 0, so they multiply.
template <class T>
HWY_INLINE void SignedFwht(const T* in, int64_t in_step, const T* signs, T* out, int64_t n,
                           int64_t count) {
  for (int64_t c = 0; c < count; ++c)
    OneTransform<Entry::product>(Tag<T>(), in + c * in_step, signs + c * n, out + c * n, n);
}

// Lanes of a vector belong to different transforms, so all stages are across vectors. An element
// that is not a multiple of a cache line takes shorter vectors.
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

#define MERCER_IN_PLACE(Name)                                               \
  void Name##F32(float* x, int64_t n, int64_t count) { Name(x, n, count); } \
  void Name##F64(double* x, int64_t n, int64_t count) { Name(x, n, count); }
MERCER_IN_PLACE(Fwht)
MERCER_IN_PLACE(Interleaved)
MERCER_IN_PLACE(Eight)
#undef MERCER_IN_PLACE
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

MERCER_SIMD_EXPORT(SignedFwht);

#define MERCER_IN_PLACE(function, Name)                         \
  MERCER_SIMD_EXPORT(Name);                                     \
  void function(float* x, int64_t n, int64_t count) noexcept {  \
    HWY_DYNAMIC_DISPATCH(Name##F32)(x, n, count);               \
  }                                                             \
  void function(double* x, int64_t n, int64_t count) noexcept { \
    HWY_DYNAMIC_DISPATCH(Name##F64)(x, n, count);               \
  }
MERCER_IN_PLACE(fwht, Fwht)
MERCER_IN_PLACE(fwht_interleaved, Interleaved)
MERCER_IN_PLACE(fwht_interleaved_eight, Eight)
#undef MERCER_IN_PLACE

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
