// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues of random Fourier features: P in turns to cos/sin pairs, cosines with a phase, complex
// exponentials; and of linear maps: P scaled. Every element has the bits of its own operands.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/epilogue.cpp"
#include "transform/simd.h"
//
#include "transform/dense_panel.h"
#include "transform/epilogue.h"
#include "transform/sincos-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mercer::transform::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V, class T>
HWY_INLINE void Put(V value, D tag, T* to, bool stream) {
  if (stream) {
    hn::Stream(value, tag, to);
  } else {
    hn::StoreU(value, tag, to);
  }
}

// body(tag, row, column): one vector of one row.
template <class T, class Body>
HWY_INLINE void ForEachVector(int64_t rows, int64_t columns, const Body& body) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; j += lanes) body(tag, i, j);
  }
}

template <class T>
HWY_INLINE void FinishPair(const EpilogueBlock<T> block) {
  ForEachVector<T>(block.rows, block.columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    SinCosTurns(tag, hn::Load(tag, block.P + i * block.columns + j), hn::Load(tag, block.scale + j),
                sine, cosine);
    T* const to = block.out + i * block.ld + j;
    Put(cosine, tag, to, block.stream);
    Put(sine, tag, to + block.part_step, block.stream);
  });
}

template <class T>
HWY_INLINE void FinishPhase(const EpilogueBlock<T> block) {
  ForEachVector<T>(block.rows, block.columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    const auto t =
        hn::Add(hn::Load(tag, block.P + i * block.columns + j), hn::Load(tag, block.phase + j));
    SinCosTurns(tag, t, hn::Load(tag, block.scale + j), sine, cosine);
    Put(cosine, tag, block.out + i * block.ld + j, block.stream);
  });
}

template <class T>
HWY_INLINE void FinishComplex(const EpilogueBlock<T> block) {
  ForEachVector<T>(block.rows, block.columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    SinCosTurns(tag, hn::Load(tag, block.P + i * block.columns + j), hn::Load(tag, block.scale + j),
                sine, cosine);
    hn::StoreInterleaved2(cosine, sine, tag, block.out + i * block.ld + 2 * j);
  });
}

template <class T>
HWY_INLINE void FinishScale(const EpilogueBlock<T> block) {
  ForEachVector<T>(block.rows, block.columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    const auto value =
        hn::Mul(hn::Load(tag, block.scale + j), hn::Load(tag, block.P + i * block.columns + j));
    Put(value, tag, block.out + i * block.ld + j, block.stream);
  });
}

void FinishPairF32(const EpilogueBlock<float>& block) { FinishPair(block); }
void FinishPairF64(const EpilogueBlock<double>& block) { FinishPair(block); }
void FinishPhaseF32(const EpilogueBlock<float>& block) { FinishPhase(block); }
void FinishPhaseF64(const EpilogueBlock<double>& block) { FinishPhase(block); }
void FinishComplexF32(const EpilogueBlock<float>& block) { FinishComplex(block); }
void FinishComplexF64(const EpilogueBlock<double>& block) { FinishComplex(block); }
void FinishScaleF32(const EpilogueBlock<float>& block) { FinishScale(block); }
void FinishScaleF64(const EpilogueBlock<double>& block) { FinishScale(block); }

}  // namespace mercer::transform::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer::transform {

HWY_EXPORT(FinishPairF32);
HWY_EXPORT(FinishPairF64);
HWY_EXPORT(FinishPhaseF32);
HWY_EXPORT(FinishPhaseF64);
HWY_EXPORT(FinishComplexF32);
HWY_EXPORT(FinishComplexF64);
HWY_EXPORT(FinishScaleF32);
HWY_EXPORT(FinishScaleF64);

namespace {

// What HWY_EXPORT made of one epilogue, for either precision.
#define MERCER_EPILOGUE(Name)                                            \
  struct Name {                                                          \
    void operator()(const EpilogueBlock<float>& block) const noexcept {  \
      HWY_DYNAMIC_DISPATCH(Finish##Name##F32)(block);                    \
    }                                                                    \
    void operator()(const EpilogueBlock<double>& block) const noexcept { \
      HWY_DYNAMIC_DISPATCH(Finish##Name##F64)(block);                    \
    }                                                                    \
  };
MERCER_EPILOGUE(Pair)
MERCER_EPILOGUE(Phase)
MERCER_EPILOGUE(Complex)
MERCER_EPILOGUE(Scale)
#undef MERCER_EPILOGUE

}  // namespace

std::unique_ptr<const Epilogue> pair_epilogue() { return make_epilogue({.parts = 2}, Pair{}); }
std::unique_ptr<const Epilogue> phase_epilogue() { return make_epilogue({}, Phase{}); }
std::unique_ptr<const Epilogue> complex_epilogue() {
  return make_epilogue({.reals = 2}, Complex{});
}
std::unique_ptr<const Epilogue> scale_epilogue() { return make_epilogue({}, Scale{}); }

}  // namespace mercer::transform
#endif
