// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The bound is memory: one multiplication for every number that is written.
#define HWY_TARGET_INCLUDE "transform/scaled_copies.cpp"
#include "transform/simd.h"
//
#include <algorithm>

#include "transform/scaled_copies.h"
#include "transform/stream_copy.h"

MERCER_SIMD_BEGIN();

// to[0..count) = from[0..count) w[0..count).
template <class T>
HWY_INLINE void Scale(const T* from, const T* w, int64_t count, T* to) {
  ForEach<T>(count, [&](auto tag, int64_t j) HWY_ATTR {
    hn::StoreU(hn::Mul(hn::LoadU(tag, from + j), hn::LoadU(tag, w + j)), tag, to + j);
  });
}

// The same, whole lines around the caches.
template <class T>
HWY_INLINE void ScaleAround(const T* from, const T* w, int64_t count, T* to) {
  const Tag<T> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  const int64_t head = std::min((kLineNumbers<T> - into_line(to)) % kLineNumbers<T>, count);
  const int64_t end = head + (count - head) / kLineNumbers<T> * kLineNumbers<T>;
  for (int64_t j = 0; j < head; ++j) to[j] = from[j] * w[j];
  for (int64_t j = head; j < end; j += lanes)
    hn::Stream(hn::Mul(hn::LoadU(tag, from + j), hn::LoadU(tag, w + j)), tag, to + j);
  for (int64_t j = end; j < count; ++j) to[j] = from[j] * w[j];
}

template <class T>
HWY_INLINE void Copies(const ScaledCopies<T>& call) {
  for (int64_t b = 0; b < call.copies; ++b) {
    const T* const from = call.takes_slope[b] != 0 ? call.slope : call.value;
    const T* const w = call.weights + b * call.weight_step;
    T* const to = call.to + b * call.to_step;
    if (call.stream) {
      ScaleAround(from, w, call.count, to);
    } else {
      Scale(from, w, call.count, to);
    }
  }
}

void CopiesF32(const ScaledCopies<float>& call) { Copies(call); }
void CopiesF64(const ScaledCopies<double>& call) { Copies(call); }

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Copies);

void scaled_copies(const ScaledCopies<float>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(CopiesF32)(call);
}
void scaled_copies(const ScaledCopies<double>& call) noexcept {
  HWY_DYNAMIC_DISPATCH(CopiesF64)(call);
}

}  // namespace mercer::transform
#endif
