// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of the forms of random Fourier features, and of scaled P: sine and cosine are
// recomputed, which costs less than reading Z.
#define HWY_TARGET_INCLUDE "transform/epilogue_gradient.cpp"
#include "transform/simd.h"
//
#include "transform/dense_panel.h"
#include "transform/epilogue_gradient.h"
#include "transform/gradient_export.h"
#include "transform/sincos-inl.h"

MERCER_SIMD_BEGIN();

constexpr double kTurn = 6.2831853071795864769;  // d angle / dP, P in turns

template <class T>
HWY_INLINE void PullBackPair(const GradientBlock<T>& block) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  const auto turn = hn::Set(tag, static_cast<T>(kTurn));
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t row = i * block.columns;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      hn::Vec<decltype(tag)> sine, cosine;
      const auto scale = hn::Mul(turn, hn::Load(tag, block.scale + j));
      SinCosTurns(tag, hn::Load(tag, block.P + row + j), scale, sine, cosine);
      const auto of_cosine = hn::Load(tag, block.G + row + j);
      const auto of_sine = hn::Load(tag, block.G + block.part_step + row + j);
      hn::Store(hn::NegMulAdd(sine, of_cosine, hn::Mul(cosine, of_sine)), tag, block.out + row + j);
    }
  }
}

template <class T>
HWY_INLINE void PullBackPhase(const GradientBlock<T>& block) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  const auto turn = hn::Set(tag, static_cast<T>(-kTurn));
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t row = i * block.columns;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      hn::Vec<decltype(tag)> sine, cosine;
      const auto t = hn::Add(hn::Load(tag, block.P + row + j), hn::Load(tag, block.phase + j));
      SinCosTurns(tag, t, hn::Mul(turn, hn::Load(tag, block.scale + j)), sine, cosine);
      hn::Store(hn::Mul(sine, hn::Load(tag, block.G + row + j)), tag, block.out + row + j);
    }
  }
}

template <class T>
HWY_INLINE void PullBackScale(const GradientBlock<T>& block) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t row = i * block.columns;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      const auto scale = hn::Load(tag, block.scale + j);
      hn::Store(hn::Mul(scale, hn::Load(tag, block.G + row + j)), tag, block.out + row + j);
    }
  }
}

// Calls store(j, sine, cosine) for the row's angles, vector by vector.
template <bool with_phase, bool grown = false, class T, class Put>
HWY_INLINE void ForEachAngle(const SlopeRow<T>& row, const Put& store) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  const auto growth = hn::Set(tag, grown ? *row.row_number : T{1});
  for (int64_t j = 0; j < row.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
    auto turns = hn::Load(tag, row.P + j);
    if (with_phase) turns = hn::Add(turns, hn::Load(tag, row.phase + j));
    hn::Vec<decltype(tag)> sine, cosine;
    auto scale = hn::Load(tag, row.scale + j);
    if (grown) scale = hn::Mul(growth, scale);
    SinCosTurns(tag, turns, scale, sine, cosine);
    store(tag, j, sine, cosine);
  }
}

template <bool grown, class T>
HWY_INLINE void SlopesOfPair(const SlopeRow<T>& row) {
  ForEachAngle<false, grown>(row, [&](auto tag, int64_t j, auto sine, auto cosine) HWY_ATTR {
    if (row.value != nullptr) {
      hn::Store(cosine, tag, row.value + j);
      hn::Store(sine, tag, row.value + row.part_step + j);
    }
    if (row.slope != nullptr) {
      hn::Store(hn::Neg(sine), tag, row.slope + j);
      hn::Store(cosine, tag, row.slope + row.part_step + j);
    }
  });
}

template <class T>
HWY_INLINE void SlopesPhase(const SlopeRow<T>& row) {
  ForEachAngle<true>(row, [&](auto tag, int64_t j, auto sine, auto cosine) HWY_ATTR {
    if (row.value != nullptr) hn::Store(cosine, tag, row.value + j);
    if (row.slope != nullptr) hn::Store(hn::Neg(sine), tag, row.slope + j);
  });
}

template <class T>
HWY_INLINE void SlopesComplex(const SlopeRow<T>& row) {
  ForEachAngle<false>(row, [&](auto tag, int64_t j, auto sine, auto cosine) HWY_ATTR {
    if (row.value != nullptr) hn::StoreInterleaved2(cosine, sine, tag, row.value + 2 * j);
    if (row.slope != nullptr) hn::StoreInterleaved2(hn::Neg(sine), cosine, tag, row.slope + 2 * j);
  });
}

template <class T>
HWY_INLINE void SlopesScale(const SlopeRow<T>& row) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  for (int64_t j = 0; j < row.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
    const auto scale = hn::Load(tag, row.scale + j);
    if (row.value != nullptr)
      hn::Store(hn::Mul(scale, hn::Load(tag, row.P + j)), tag, row.value + j);
    if (row.slope != nullptr) hn::Store(scale, tag, row.slope + j);
  }
}

MERCER_SIMD_PAIR(PullBackPair, GradientBlock, PullBackPair)
MERCER_SIMD_PAIR(PullBackPhase, GradientBlock, PullBackPhase)
MERCER_SIMD_PAIR(PullBackScale, GradientBlock, PullBackScale)
MERCER_SIMD_PAIR(SlopesPair, SlopeRow, SlopesOfPair<false>)
MERCER_SIMD_PAIR(SlopesGrownPair, SlopeRow, SlopesOfPair<true>)
MERCER_SIMD_PAIR(SlopesPhase, SlopeRow, SlopesPhase)
MERCER_SIMD_PAIR(SlopesComplex, SlopeRow, SlopesComplex)
MERCER_SIMD_PAIR(SlopesScale, SlopeRow, SlopesScale)

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(PullBackPair);
MERCER_SIMD_EXPORT(PullBackPhase);
MERCER_SIMD_EXPORT(PullBackScale);
MERCER_SIMD_EXPORT(SlopesPair);
MERCER_SIMD_EXPORT(SlopesGrownPair);
MERCER_SIMD_EXPORT(SlopesPhase);
MERCER_SIMD_EXPORT(SlopesComplex);
MERCER_SIMD_EXPORT(SlopesScale);

MERCER_GRADIENT(pair_gradient, Pair, Pair, 2, true, -1, kAnyOrder)
MERCER_SLOPE_GRADIENT(grown_pair_gradient, GrownPair, 2, true, -1, kAnyOrder)
MERCER_GRADIENT(phase_gradient, Phase, Phase, 1, true, -1, kAnyOrder)
MERCER_GRADIENT(complex_gradient, Pair, Complex, 2, true, -1, kAnyOrder)
MERCER_GRADIENT(scale_gradient, Scale, Scale, 1, false, 0, kAnyOrder)

}  // namespace mercer::transform
#endif
