// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/diagonal.cpp"
#include "transform/simd.h"

#include "transform/diagonal.h"

HWY_BEFORE_NAMESPACE();
namespace mercer::transform::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// body(tag, i) for whole vectors, then lane by lane.
template <class T, class Body>
HWY_INLINE void ForEach(int64_t n, const Body& body) {
  const hn::CappedTag<T, 64 / sizeof(T)> tag;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(tag, i);
  for (; i < n; ++i) body(one, i);
}

template <class T>
HWY_INLINE void Multiply(const T* diagonal, int64_t n, T* x) {
  ForEach<T>(n, [&](auto tag, int64_t i) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(tag, x + i), hn::LoadU(tag, diagonal + i)), tag, x + i);
  });
}

void MultiplyF32(const float* diagonal, int64_t n, float* x) { Multiply(diagonal, n, x); }
void MultiplyF64(const double* diagonal, int64_t n, double* x) { Multiply(diagonal, n, x); }

}  // namespace mercer::transform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(MultiplyF32);
HWY_EXPORT(MultiplyF64);

void multiply(const float* diagonal, int64_t n, float* x) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF32)(diagonal, n, x);
}
void multiply(const double* diagonal, int64_t n, double* x) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF64)(diagonal, n, x);
}

}  // namespace mercer::transform
#endif
