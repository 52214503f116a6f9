// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of the real forms of random Fourier features: sine and cosine are made anew, which
// costs less than reading Z.
#define HWY_TARGET_INCLUDE "transform/epilogue_gradient.cpp"
#include "transform/simd.h"
//
#include "transform/dense_panel.h"
#include "transform/epilogue_gradient.h"
#include "transform/sincos-inl.h"

MERCER_SIMD_BEGIN();

constexpr double kTurn = 6.2831853071795864769;  // dangle / dP, P in turns

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

void PullBackPairF32(const GradientBlock<float>& block) { PullBackPair(block); }
void PullBackPairF64(const GradientBlock<double>& block) { PullBackPair(block); }
void PullBackPhaseF32(const GradientBlock<float>& block) { PullBackPhase(block); }
void PullBackPhaseF64(const GradientBlock<double>& block) { PullBackPhase(block); }

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(PullBackPair);
MERCER_SIMD_EXPORT(PullBackPhase);

namespace {

class PairGradient final : public EpilogueGradient {
 public:
  void pull_back(const GradientBlock<float>& block) const noexcept override {
    HWY_DYNAMIC_DISPATCH(PullBackPairF32)(block);
  }
  void pull_back(const GradientBlock<double>& block) const noexcept override {
    HWY_DYNAMIC_DISPATCH(PullBackPairF64)(block);
  }
};

class PhaseGradient final : public EpilogueGradient {
 public:
  void pull_back(const GradientBlock<float>& block) const noexcept override {
    HWY_DYNAMIC_DISPATCH(PullBackPhaseF32)(block);
  }
  void pull_back(const GradientBlock<double>& block) const noexcept override {
    HWY_DYNAMIC_DISPATCH(PullBackPhaseF64)(block);
  }
};

}  // namespace

const EpilogueGradient& pair_gradient() {
  static const PairGradient gradient;
  return gradient;
}

const EpilogueGradient& phase_gradient() {
  static const PhaseGradient gradient;
  return gradient;
}

}  // namespace mercer::transform
#endif
