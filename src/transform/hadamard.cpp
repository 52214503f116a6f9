// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fast Walsh-Hadamard transform: the stages, and the dispatch between targets.
#define HWY_TARGET_INCLUDE "transform/hadamard.cpp"
#include "transform/simd.h"
//
#include <algorithm>

#include "base/parallel.h"
#include "transform/hadamard.h"

MERCER_SIMD_BEGIN();

// Stages of butterflies (a, b) -> (a + b, a - b), as many as registers hold between a load and a
// store: first those inside a vector (one permutation and one multiply-add by +-1 each) and inside
// a block of vectors, then groups of up to three across blocks. Transforms larger than the L1 cache
// are split depth first, so that each part is finished while it is cached. Compiled per target: the
// toggle is Highway's.

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

void SignedFwhtF32(const float* in, int64_t in_step, const float* signs, float* out, int64_t n,
                   int64_t count) {
  SignedFwht(in, in_step, signs, out, n, count);
}
void SignedFwhtF64(const double* in, int64_t in_step, const double* signs, double* out, int64_t n,
                   int64_t count) {
  SignedFwht(in, in_step, signs, out, n, count);
}

// Several Walsh-Hadamard transforms with diagonals in between. Transforms that fit the registers
// are loaded and stored once; longer ones take sweeps, the last of which scales.

template <class T>
struct Chain {
  const T* in;
  int64_t in_step;
  const T* diagonals;
  int64_t diagonal_step;
  int stages;
  const T* scale;
  T* out;
};

// Transform number c of a chain.
template <class T>
HWY_INLINE Chain<T> At(const Chain<T>& chain, int64_t n, int64_t c) {
  return {chain.in + c * chain.in_step,
          chain.in_step,
          chain.diagonals + c * n,
          chain.diagonal_step,
          chain.stages,
          chain.scale == nullptr ? nullptr : chain.scale + c * n,
          chain.out + c * n};
}

// kTogether transforms of kLength vectors each: a single one would wait for its own additions.
template <int kLength, int kTogether, Entry kEntry, class D, class T>
HWY_INLINE void InRegisters(D tag, const Chain<T>& chain) {
  constexpr int kVectors = kLength * kTogether;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  hn::Vec<D> v[kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i)
    v[i] = hn::LoadU(tag, chain.in + i / kLength * chain.in_step + i % kLength * lanes);
  for (int s = 0; s < chain.stages; ++s) {
    const T* const diagonal = chain.diagonals + s * chain.diagonal_step;
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i)
      v[i] = StagesInVector(tag, Enter<kEntry>(tag, v[i], diagonal + i * lanes));
    AcrossVectors<kVectors, kLength>(tag, v);
  }
  if (chain.scale != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kVectors; ++i)
      v[i] = hn::Mul(v[i], hn::LoadU(tag, chain.scale + i * lanes));
  }
#pragma GCC unroll 16
  for (int i = 0; i < kVectors; ++i) hn::StoreU(v[i], tag, chain.out + i * lanes);
}

template <int kLength, Entry kEntry, class D, class T>
HWY_INLINE void AllInRegisters(D tag, const Chain<T>& chain, int64_t n, int64_t count) {
  constexpr int kTogether = kBlockVectors / kLength;
  int64_t c = 0;
  for (; c + kTogether <= count; c += kTogether)
    InRegisters<kLength, kTogether, kEntry>(tag, At(chain, n, c));
  for (; c < count; ++c) InRegisters<kLength, 1, kEntry>(tag, At(chain, n, c));
}

template <class T>
void MultiplyBy(const T* scale, int64_t n, T* x) {
  for (int64_t i = 0; i < n; ++i) x[i] *= scale[i];
}

// The last transform of a longer chain, in place or out of place.
template <Entry kEntry, class D, class T>
HWY_INLINE void ScaledTransform(D tag, const T* in, const T* diagonal, const T* scale, int64_t n,
                                T* out) {
  constexpr int64_t kSweep = kSweepBytes / static_cast<int64_t>(sizeof(T));
  const int64_t block = kBlockVectors * static_cast<int64_t>(hn::Lanes(tag));
  if (scale != nullptr && n <= kSweep && n > block) {
    for (int64_t i = 0; i < n; i += block)
      FirstStages<kBlockVectors, kEntry>(tag, in + i, diagonal + i, out + i);
    return RemainingStages<true>(tag, out, block, n, scale);
  }
  OneTransform<kEntry>(tag, in, diagonal, out, n);
  if (scale != nullptr) MultiplyBy(scale, n, out);
}

template <Entry kEntry, class D, class T>
void InSweeps(D tag, const Chain<T>& chain, int64_t n) {
  const T* in = chain.in;
  const T* diagonal = chain.diagonals;
  for (int s = 1; s < chain.stages; ++s, in = chain.out, diagonal += chain.diagonal_step)
    OneTransform<kEntry>(tag, in, diagonal, chain.out, n);
  ScaledTransform<kEntry>(tag, in, diagonal, chain.scale, n, chain.out);
}

template <Entry kEntry, class T>
HWY_INLINE void FwhtChain(const Chain<T>& chain, int64_t n, int64_t count) {
  const hn::CappedTag<T, 64 / sizeof(T)> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  if (n == lanes) return AllInRegisters<1, kEntry>(tag, chain, n, count);
  if (n == 2 * lanes) return AllInRegisters<2, kEntry>(tag, chain, n, count);
  if (n == 4 * lanes) return AllInRegisters<4, kEntry>(tag, chain, n, count);
  if (n == 8 * lanes) return AllInRegisters<8, kEntry>(tag, chain, n, count);
  if (n == 16 * lanes && kBlockVectors == 16)
    return AllInRegisters<kBlockVectors, kEntry>(tag, chain, n, count);
  for (int64_t c = 0; c < count; ++c) InSweeps<kEntry>(tag, At(chain, n, c), n);
}

// A chain of one transform without a diagonal.
template <class T>
HWY_INLINE void Fwht(T* x, int64_t n, int64_t count) {
  FwhtChain<Entry::plain>(Chain<T>{x, n, x, 0, 1, nullptr, x}, n, count);
}

#define MERCER_IN_PLACE(Name)                                               \
  void Name##F32(float* x, int64_t n, int64_t count) { Name(x, n, count); } \
  void Name##F64(double* x, int64_t n, int64_t count) { Name(x, n, count); }
MERCER_IN_PLACE(Fwht)
MERCER_IN_PLACE(Interleaved)
MERCER_IN_PLACE(Eight)
#undef MERCER_IN_PLACE

void ChainF32(const float* in, int64_t in_step, const float* diagonals, DiagonalKind kind,
              int stages, const float* scale, float* out, int64_t n, int64_t count) {
  const Chain<float> chain = {in, in_step, diagonals, n * count, stages, scale, out};
  if (kind == DiagonalKind::signs) return FwhtChain<Entry::signs>(chain, n, count);
  FwhtChain<Entry::product>(chain, n, count);
}
void ChainF64(const double* in, int64_t in_step, const double* diagonals, DiagonalKind kind,
              int stages, const double* scale, double* out, int64_t n, int64_t count) {
  const Chain<double> chain = {in, in_step, diagonals, n * count, stages, scale, out};
  if (kind == DiagonalKind::signs) return FwhtChain<Entry::signs>(chain, n, count);
  FwhtChain<Entry::product>(chain, n, count);
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

MERCER_SIMD_EXPORT(Chain);

void fwht_chain(const float* in, int64_t in_step, const float* diagonals, DiagonalKind kind,
                int stages, const float* scale, float* out, int64_t n, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(ChainF32)(in, in_step, diagonals, kind, stages, scale, out, n, count);
}
void fwht_chain(const double* in, int64_t in_step, const double* diagonals, DiagonalKind kind,
                int stages, const double* scale, double* out, int64_t n, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(ChainF64)(in, in_step, diagonals, kind, stages, scale, out, n, count);
}

namespace {

// Bytes of a chunk: far above the overhead of a chunk, far below a batch worth two threads.
constexpr int64_t kChunkBytes = 256 * 1024;

template <class T>
void transform_rows(MatrixView<T> X, Context& context) {
  const int64_t row_bytes = X.cols * static_cast<int64_t>(sizeof(T));
  const int64_t rows = std::max<int64_t>(1, kChunkBytes / row_bytes);
  const int64_t chunks = X.rows / rows + (X.rows % rows != 0 ? 1 : 0);
  parallel_for(
      context, chunks,
      [&](int64_t chunk, int) noexcept {
        const int64_t begin = chunk * rows;
        const int64_t end = std::min(begin + rows, X.rows);
        if (X.ld == X.cols) return fwht(X.row(begin), X.cols, end - begin);
        for (int64_t i = begin; i < end; ++i) fwht(X.row(i), X.cols, 1);
      },
      rows);
}

}  // namespace

void fwht_rows(MatrixView<float> X, Context& context) { transform_rows(X, context); }
void fwht_rows(MatrixView<double> X, Context& context) { transform_rows(X, context); }

}  // namespace mercer::transform
#endif
