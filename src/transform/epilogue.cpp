// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues of random Fourier features, from P in turns to cos/sin pairs, cosines with a phase or
// complex exponentials; of Laplace features, exp(-P); and of linear maps, P scaled. The bits of an
// element depend on its own operands alone.
#define HWY_TARGET_INCLUDE "transform/epilogue.cpp"
#include "transform/simd.h"
//
#include "transform/dense_panel.h"
#include "transform/epilogue.h"
#include "transform/exp-inl.h"
#include "transform/row_store-inl.h"
#include "transform/sincos-inl.h"

MERCER_SIMD_BEGIN();

struct PairRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    RowStore<way, decltype(tag)> cosines(tag, block, i, 0), sines(tag, block, i, 1);
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      hn::Vec<decltype(tag)> sine, cosine;
      SinCosTurns(tag, hn::Load(tag, block.P + i * block.columns + j),
                  hn::Load(tag, block.scale + j), sine, cosine);
      cosines.Put(cosine, j);
      sines.Put(sine, j);
    }
    cosines.Finish();
    sines.Finish();
  }
};

struct CosineValue {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Of(D tag, V P, V scale) {
    V sine, cosine;
    SinCosTurns(tag, P, scale, sine, cosine);
    return cosine;
  }
};
using PhaseRow = ElementRow<CosineValue, true>;

struct ComplexRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
    RowStore<way, decltype(tag)> row(tag, block, i, 0);
    for (int64_t j = 0; j < block.columns; j += lanes) {
      hn::Vec<decltype(tag)> sine, cosine;
      SinCosTurns(tag, hn::Load(tag, block.P + i * block.columns + j),
                  hn::Load(tag, block.scale + j), sine, cosine);
      HWY_ALIGN T both[2 * hn::MaxLanes(tag)];
      hn::StoreInterleaved2(cosine, sine, tag, both);
      row.Put(hn::Load(tag, both), 2 * j);
      row.Put(hn::Load(tag, both + lanes), 2 * j + lanes);
    }
    row.Finish();
  }
};

struct DecayValue {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Of(D tag, V P, V scale) {
    return hn::Mul(scale, Exp(tag, hn::Neg(P)));
  }
};
using DecayRow = ElementRow<DecayValue>;

struct ScaleValue {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Of(D, V P, V scale) {
    return hn::Mul(scale, P);
  }
};
using ScaleRow = ElementRow<ScaleValue>;

MERCER_SIMD_PAIR(FinishPair, EpilogueBlock, FinishBlock<PairRow>)
MERCER_SIMD_PAIR(FinishPhase, EpilogueBlock, FinishBlock<PhaseRow>)
MERCER_SIMD_PAIR(FinishComplex, EpilogueBlock, FinishBlock<ComplexRow>)
MERCER_SIMD_PAIR(FinishDecay, EpilogueBlock, FinishBlock<DecayRow>)
MERCER_SIMD_PAIR(FinishScale, EpilogueBlock, FinishBlock<ScaleRow>)

template <class T>
HWY_INLINE int64_t VectorNumbers() {
  return static_cast<int64_t>(hn::Lanes(hn::CappedTag<T, kPanelColumns<T>>()));
}
int64_t VectorNumbersF32() { return VectorNumbers<float>(); }
int64_t VectorNumbersF64() { return VectorNumbers<double>(); }

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(FinishPair);
MERCER_SIMD_EXPORT(FinishPhase);
MERCER_SIMD_EXPORT(FinishComplex);
MERCER_SIMD_EXPORT(FinishDecay);
MERCER_SIMD_EXPORT(FinishScale);
MERCER_SIMD_EXPORT(VectorNumbers);

namespace {

MERCER_EPILOGUE(Pair)
MERCER_EPILOGUE(Phase)
MERCER_EPILOGUE(Complex)
MERCER_EPILOGUE(Decay)
MERCER_EPILOGUE(Scale)

}  // namespace

int64_t carry_room(float) noexcept { return HWY_DYNAMIC_DISPATCH(VectorNumbersF32)(); }
int64_t carry_room(double) noexcept { return HWY_DYNAMIC_DISPATCH(VectorNumbersF64)(); }

std::unique_ptr<const Epilogue> pair_epilogue() {
  return make_epilogue({.parts = 2, .carries = true}, Pair{}, &pair_gradient());
}
std::unique_ptr<const Epilogue> phase_epilogue() {
  return make_epilogue({.carries = true}, Phase{}, &phase_gradient());
}
std::unique_ptr<const Epilogue> complex_epilogue() {
  return make_epilogue({.reals = 2, .carries = true}, Complex{}, &complex_gradient());
}
std::unique_ptr<const Epilogue> decay_epilogue() {
  return make_epilogue({.carries = true}, Decay{}, &decay_gradient());
}
std::unique_ptr<const Epilogue> scale_epilogue() {
  return make_epilogue({.carries = true}, Scale{}, &scale_gradient());
}

}  // namespace mercer::transform
#endif
