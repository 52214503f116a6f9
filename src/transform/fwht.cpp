// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Stages of butterflies (a, b) -> (a + b, a - b), as many as registers hold between a load and a
// store: first those inside a vector (one permutation and one multiply-add by +-1 each) and inside
// a block of vectors, then groups of up to three across blocks. Lengths beyond the first-level
// cache are split depth first, so that each part is finished while it is cached.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/fwht.cpp"
#include "transform/simd.h"

#include "transform/fwht.h"

HWY_BEFORE_NAMESPACE();
namespace mercer::transform::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kBlockVectors = 16;
#else
constexpr int kBlockVectors = 8;
#endif

// Bytes of a transform that is done in sweeps; longer ones are split first.
constexpr int64_t kSweepBytes = 16 * 1024;

// (a + b, a - b). The difference goes to the multiply-add units where there are any: b * 1 is
// exact, so the bits are those of a - b, and additions and multiply-adds have units of their own on
// several processors.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void Butterfly(D tag, V& a, V& b) {
  const V sum = hn::Add(a, b);
#if HWY_NATIVE_FMA
  b = hn::NegMulAdd(b, hn::Set(tag, hn::TFromD<D>{1}), a);
#else
  (void)tag;
  b = hn::Sub(a, b);
#endif
  a = sum;
}

// log2(kCount) stages across kCount vectors.
template <int kCount, class D, class V = hn::Vec<D>>
HWY_INLINE void AcrossVectors(D tag, V (&v)[kCount]) {
#pragma GCC unroll 4
  for (int h = 1; h < kCount; h *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      if ((i & h) == 0) Butterfly(tag, v[i], v[i + h]);
    }
  }
}

// Stage h = 2^k inside a vector: lane i becomes v[i ^ h] + sign(i) v[i], sign -1 where i & h.
template <class T>
struct StageTables {
  static constexpr size_t kLanes = 64 / sizeof(T);
  alignas(64) T sign[4][kLanes];
  alignas(64) hwy::MakeSigned<T> partner[4][kLanes];
};
template <class T>
constexpr StageTables<T> MakeStageTables() {
  StageTables<T> tables{};
  for (size_t k = 0; k < 4; ++k) {
    for (size_t i = 0; i < tables.kLanes; ++i) {
      tables.sign[k][i] = (i >> k & 1) != 0 ? T{-1} : T{1};
      tables.partner[k][i] = static_cast<hwy::MakeSigned<T>>(i ^ (size_t{1} << k));
    }
  }
  return tables;
}
template <class T>
constexpr StageTables<T> kStageTables = MakeStageTables<T>();

template <int kStage, class D, class V = hn::Vec<D>>
HWY_INLINE V StageInVector(D tag, V v) {
#if HWY_TARGET == HWY_SCALAR
  (void)tag;
  return v;
#else
  using T = hn::TFromD<D>;
  V other;
  if constexpr (kStage == 0) {
    other = hn::Reverse2(tag, v);
  } else if constexpr (kStage == 1 && sizeof(T) == 4) {
    other = hn::Shuffle1032(v);
  } else {
    other = hn::TableLookupLanes(v, hn::SetTableIndices(tag, kStageTables<T>.partner[kStage]));
  }
  return hn::MulAdd(v, hn::Load(tag, kStageTables<T>.sign[kStage]), other);
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V StagesInVector(D tag, V v) {
  constexpr size_t kMost = hn::MaxLanes(D());
  if constexpr (kMost > 1) v = StageInVector<0>(tag, v);
  if constexpr (kMost > 2) v = StageInVector<1>(tag, v);
  if constexpr (kMost > 4) v = StageInVector<2>(tag, v);
  if constexpr (kMost > 8) v = StageInVector<3>(tag, v);
  return v;
}

// The first log2(lanes * kCount) stages of kCount consecutive vectors, with signs applied on the
// way in.
template <int kCount, bool kSigned, class D, class T>
HWY_INLINE void FirstStages(D tag, const T* in, const T* signs, T* out) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(tag);
  V v[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    v[i] = hn::LoadU(tag, in + static_cast<size_t>(i) * lanes);
    if (kSigned) v[i] = hn::Mul(v[i], hn::LoadU(tag, signs + static_cast<size_t>(i) * lanes));
    v[i] = StagesInVector(tag, v[i]);
  }
  AcrossVectors<kCount>(tag, v);
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) hn::StoreU(v[i], tag, out + static_cast<size_t>(i) * lanes);
}

// log2(kCount) stages h, 2h, ... of a transform of length n.
template <int kCount, class D, class T>
HWY_INLINE void Combine(D tag, T* x, int64_t h, int64_t n) {
  using V = hn::Vec<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t base = 0; base < n; base += kCount * h) {
    for (int64_t j = base; j < base + h; j += lanes) {
      V v[kCount];
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) v[i] = hn::LoadU(tag, x + j + i * h);
      AcrossVectors<kCount>(tag, v);
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) hn::StoreU(v[i], tag, x + j + i * h);
    }
  }
}

template <class D, class T>
HWY_INLINE void RemainingStages(D tag, T* x, int64_t h, int64_t n) {
  for (; 8 * h <= n; h *= 8) Combine<8>(tag, x, h, n);
  if (4 * h <= n) {
    Combine<4>(tag, x, h, n);
    h *= 4;
  }
  if (2 * h <= n) Combine<2>(tag, x, h, n);
}

// Shorter than a vector: scalar, in the same order of stages.
template <bool kSigned, class T>
void ShortTransform(const T* in, const T* signs, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = kSigned ? in[i] * signs[i] : in[i];
  for (int64_t h = 1; h < n; h *= 2) {
    for (int64_t i = 0; i < n; ++i) {
      if ((i & h) != 0) continue;
      const T a = out[i], b = out[i + h];
      out[i] = a + b;
      out[i + h] = a - b;
    }
  }
}

// n >= lanes and fits the sweeps.
template <bool kSigned, class D, class T>
HWY_INLINE void Sweeps(D tag, const T* in, const T* signs, T* out, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  if (n >= kBlockVectors * lanes) {
    for (int64_t i = 0; i < n; i += kBlockVectors * lanes) {
      FirstStages<kBlockVectors, kSigned>(tag, in + i, signs + (kSigned ? i : 0), out + i);
    }
    RemainingStages(tag, out, kBlockVectors * lanes, n);
  } else if (n >= 4 * lanes) {
    for (int64_t i = 0; i < n; i += 4 * lanes)
      FirstStages<4, kSigned>(tag, in + i, signs + (kSigned ? i : 0), out + i);
    RemainingStages(tag, out, 4 * lanes, n);
  } else {
    for (int64_t i = 0; i < n; i += lanes)
      FirstStages<1, kSigned>(tag, in + i, signs + (kSigned ? i : 0), out + i);
    RemainingStages(tag, out, lanes, n);
  }
}

template <bool kSigned, class D, class T>
void OneTransform(D tag, const T* in, const T* signs, T* out, int64_t n) {
  if (n < static_cast<int64_t>(hn::Lanes(tag))) return ShortTransform<kSigned>(in, signs, out, n);
  if (n * static_cast<int64_t>(sizeof(T)) <= kSweepBytes)
    return Sweeps<kSigned>(tag, in, signs, out, n);
  const int64_t part = n / 8;
  for (int64_t i = 0; i < n; i += part)
    OneTransform<kSigned>(tag, in + i, signs + (kSigned ? i : 0), out + i, part);
  Combine<8>(tag, out, part, n);
}

template <class T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;

template <class T>
HWY_INLINE void Fwht(T* x, int64_t n, int64_t count) {
  for (int64_t c = 0; c < count; ++c) OneTransform<false>(Tag<T>(), x + c * n, x, x + c * n, n);
}
template <class T>
HWY_INLINE void SignedFwht(const T* in, int64_t in_step, const T* signs, T* out, int64_t n,
                           int64_t count) {
  for (int64_t c = 0; c < count; ++c)
    OneTransform<true>(Tag<T>(), in + c * in_step, signs + c * n, out + c * n, n);
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

}  // namespace mercer::transform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(InterleavedF32);
HWY_EXPORT(InterleavedF64);
HWY_EXPORT(EightF32);
HWY_EXPORT(EightF64);
HWY_EXPORT(FwhtF32);
HWY_EXPORT(FwhtF64);
HWY_EXPORT(SignedFwhtF32);
HWY_EXPORT(SignedFwhtF64);

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
