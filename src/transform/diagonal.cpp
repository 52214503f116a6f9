// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#define HWY_TARGET_INCLUDE "transform/diagonal.cpp"
#include "transform/diagonal.h"

#include "transform/simd.h"

MERCER_SIMD_BEGIN();

template <class T>
HWY_INLINE void Multiply(const T* diagonal, int64_t n, T* x) {
  ForEach<T>(n, [&](auto tag, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(tag, x + i), hn::LoadU(tag, diagonal + i)), tag, x + i);
  });
}

void MultiplyF32(const float* diagonal, int64_t n, float* x) { Multiply(diagonal, n, x); }
void MultiplyF64(const double* diagonal, int64_t n, double* x) { Multiply(diagonal, n, x); }

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Multiply);

void multiply(const float* diagonal, int64_t n, float* x) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF32)(diagonal, n, x);
}
void multiply(const double* diagonal, int64_t n, double* x) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF64)(diagonal, n, x);
}

}  // namespace mercer::transform
#endif
