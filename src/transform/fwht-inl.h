// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Stages of butterflies (a, b) -> (a + b, a - b), as many as registers hold between a load and a
// store: first those inside a vector (one permutation and one multiply-add by +-1 each) and inside
// a block of vectors, then groups of up to three across blocks. Transforms larger than the L1 cache
// are split depth first, so that each part is finished while it is cached. Compiled per target: the
// toggle is Highway's.
#if defined(MERCER_TRANSFORM_FWHT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MERCER_TRANSFORM_FWHT_INL_H
#undef MERCER_TRANSFORM_FWHT_INL_H
#else
#define MERCER_TRANSFORM_FWHT_INL_H
#endif

MERCER_SIMD_BEGIN();

constexpr int kBlockVectors = kManyRegisters ? 16 : 8;

// Bytes of a transform that is done in sweeps; longer ones are split first.
constexpr int64_t kSweepBytes = 16 * 1024;

// (a + b, a - b). The difference uses a multiply-add where there is one: b * 1 is exact, so the
// bits are those of a - b, and several processors have separate units for additions and
// multiply-adds.
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

// log2(kLength) stages across the vectors of each run of kLength.
template <int kCount, int kLength = kCount, class D, class V = hn::Vec<D>>
HWY_INLINE void AcrossVectors(D tag, V (&v)[kCount]) {
#pragma GCC unroll 4
  for (int h = 1; h < kLength; h *= 2) {
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

// What a vector is multiplied by when loaded: nothing, +-1 (a flip of the sign bit, which is cheap
// on every processor), or any number.
enum class Entry { plain, signs, product };

template <Entry kEntry, class D, class T, class V = hn::Vec<D>>
HWY_INLINE V Enter(D tag, V v, const T* diagonal) {
  if constexpr (kEntry == Entry::signs)
    return hn::Xor(v, hn::And(hn::SignBit(tag), hn::LoadU(tag, diagonal)));
  if constexpr (kEntry == Entry::product) return hn::Mul(v, hn::LoadU(tag, diagonal));
  return v;
}

// The first log2(lanes * kCount) stages of kCount consecutive vectors.
template <int kCount, Entry kEntry, class D, class T>
HWY_INLINE void FirstStages(D tag, const T* in, const T* diagonal, T* out) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(tag);
  V v[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) {
    const size_t at = static_cast<size_t>(i) * lanes;
    v[i] = StagesInVector(tag, Enter<kEntry>(tag, hn::LoadU(tag, in + at), diagonal + at));
  }
  AcrossVectors<kCount>(tag, v);
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) hn::StoreU(v[i], tag, out + static_cast<size_t>(i) * lanes);
}

// log2(kCount) stages h, 2h, ... of a transform of length n; kScaled: then multiplies by scale.
template <int kCount, bool kScaled = false, class D, class T>
HWY_INLINE void Combine(D tag, T* x, int64_t h, int64_t n, const T* scale = nullptr) {
  using V = hn::Vec<D>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t base = 0; base < n; base += kCount * h) {
    for (int64_t j = base; j < base + h; j += lanes) {
      V v[kCount];
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) v[i] = hn::LoadU(tag, x + j + i * h);
      AcrossVectors<kCount>(tag, v);
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) {
        if (kScaled) v[i] = hn::Mul(v[i], hn::LoadU(tag, scale + j + i * h));
        hn::StoreU(v[i], tag, x + j + i * h);
      }
    }
  }
}

// Stages h, 2h, ..., n/2; with a scale, at least one of them.
template <bool kScaled = false, class D, class T>
HWY_INLINE void RemainingStages(D tag, T* x, int64_t h, int64_t n, const T* scale = nullptr) {
  for (; 8 * h < n; h *= 8) Combine<8>(tag, x, h, n);
  if (8 * h == n) return Combine<8, kScaled>(tag, x, h, n, scale);
  if (4 * h == n) return Combine<4, kScaled>(tag, x, h, n, scale);
  if (2 * h == n) Combine<2, kScaled>(tag, x, h, n, scale);
}

// Shorter than a vector: scalar, in the same order of stages.
template <Entry kEntry, class T>
void ShortTransform(const T* in, const T* diagonal, T* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = kEntry == Entry::plain ? in[i] : in[i] * diagonal[i];
  for (int64_t h = 1; h < n; h *= 2) {
    for (int64_t i = 0; i < n; ++i) {
      if ((i & h) != 0) continue;
      const T a = out[i], b = out[i + h];
      out[i] = a + b;
      out[i + h] = a - b;
    }
  }
}

// For lengths from one vector up to a sweep.
template <Entry kEntry, class D, class T>
HWY_INLINE void Sweeps(D tag, const T* in, const T* diagonal, T* out, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  if (n >= kBlockVectors * lanes) {
    for (int64_t i = 0; i < n; i += kBlockVectors * lanes) {
      FirstStages<kBlockVectors, kEntry>(tag, in + i, diagonal + (kEntry == Entry::plain ? 0 : i),
                                         out + i);
    }
    RemainingStages(tag, out, kBlockVectors * lanes, n);
  } else if (n >= 4 * lanes) {
    for (int64_t i = 0; i < n; i += 4 * lanes)
      FirstStages<4, kEntry>(tag, in + i, diagonal + (kEntry == Entry::plain ? 0 : i), out + i);
    RemainingStages(tag, out, 4 * lanes, n);
  } else {
    for (int64_t i = 0; i < n; i += lanes)
      FirstStages<1, kEntry>(tag, in + i, diagonal + (kEntry == Entry::plain ? 0 : i), out + i);
    RemainingStages(tag, out, lanes, n);
  }
}

template <Entry kEntry, class D, class T>
void OneTransform(D tag, const T* in, const T* diagonal, T* out, int64_t n) {
  if (n < static_cast<int64_t>(hn::Lanes(tag))) return ShortTransform<kEntry>(in, diagonal, out, n);
  if (n * static_cast<int64_t>(sizeof(T)) <= kSweepBytes)
    return Sweeps<kEntry>(tag, in, diagonal, out, n);
  const int64_t part = n / 8;
  for (int64_t i = 0; i < n; i += part)
    OneTransform<kEntry>(tag, in + i, diagonal + (kEntry == Entry::plain ? 0 : i), out + i, part);
  Combine<8>(tag, out, part, n);
}

MERCER_SIMD_END();
#endif
