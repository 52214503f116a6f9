// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/stream_copy.cpp"
#include "transform/simd.h"
//
#include <hwy/cache_control.h>

#include <algorithm>

#include "transform/stream_copy.h"

HWY_BEFORE_NAMESPACE();
namespace mercer::transform::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void StreamCopy(const T* HWY_RESTRICT from, int64_t count, T* HWY_RESTRICT to) {
  const hn::CappedTag<T, 64 / sizeof(T)> tag;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  const int64_t misaligned =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) / sizeof(T)) % kLine;
  const int64_t head = std::min(count, (kLine - misaligned) % kLine);
  const int64_t lines = (count - head) / kLine;
  std::copy(from, from + head, to);
  for (int64_t j = head; j < head + lines * kLine; j += lanes) {
    hn::Stream(hn::LoadU(tag, from + j), tag, to + j);
  }
  std::copy(from + head + lines * kLine, from + count, to + head + lines * kLine);
}

void StreamCopyF32(const float* from, int64_t count, float* to) { StreamCopy(from, count, to); }
void StreamCopyF64(const double* from, int64_t count, double* to) { StreamCopy(from, count, to); }

}  // namespace mercer::transform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(StreamCopyF32);
HWY_EXPORT(StreamCopyF64);

void stream_copy(const float* from, int64_t count, float* to) noexcept {
  HWY_DYNAMIC_DISPATCH(StreamCopyF32)(from, count, to);
}
void stream_copy(const double* from, int64_t count, double* to) noexcept {
  HWY_DYNAMIC_DISPATCH(StreamCopyF64)(from, count, to);
}
void finish_streaming() noexcept { hwy::FlushStream(); }

}  // namespace mercer::transform
#endif
