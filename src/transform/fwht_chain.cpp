// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Several Walsh-Hadamard transforms with diagonals in between. Transforms that fit the registers
// are loaded and stored once; longer ones take sweeps, the last of which scales.
#define HWY_TARGET_INCLUDE "transform/fwht_chain.cpp"
#include "transform/simd.h"
//
#include "transform/fwht-inl.h"
#include "transform/fwht.h"

MERCER_SIMD_BEGIN();

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

MERCER_SIMD_EXPORT(Chain);

void fwht_chain(const float* in, int64_t in_step, const float* diagonals, DiagonalKind kind,
                int stages, const float* scale, float* out, int64_t n, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(ChainF32)(in, in_step, diagonals, kind, stages, scale, out, n, count);
}
void fwht_chain(const double* in, int64_t in_step, const double* diagonals, DiagonalKind kind,
                int stages, const double* scale, double* out, int64_t n, int64_t count) noexcept {
  HWY_DYNAMIC_DISPATCH(ChainF64)(in, in_step, diagonals, kind, stages, scale, out, n, count);
}

}  // namespace mercer::transform
#endif
