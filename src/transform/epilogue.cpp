// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues of random Fourier features: P in turns to cos/sin pairs, cosines with a phase, complex
// exponentials; and of linear maps: P scaled.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/epilogue.cpp"
#include "transform/simd.h"
//
#include "transform/sincos-inl.h"

#include "transform/dense_panel.h"
#include "transform/epilogue.h"

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
HWY_INLINE void FinishPair(const T* P, int64_t rows, int64_t columns, const T* scale,
                           const BlockOutput<T>& out) {
  ForEachVector<T>(rows, columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    SinCosTurns(tag, hn::Load(tag, P + i * columns + j), hn::Load(tag, scale + j), sine, cosine);
    Put(cosine, tag, out.first + i * out.ld + j, out.stream);
    Put(sine, tag, out.second + i * out.ld + j, out.stream);
  });
}

template <class T>
HWY_INLINE void FinishPhase(const T* P, int64_t rows, int64_t columns, const T* scale,
                            const T* phase, const BlockOutput<T>& out) {
  ForEachVector<T>(rows, columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    const auto t = hn::Add(hn::Load(tag, P + i * columns + j), hn::Load(tag, phase + j));
    SinCosTurns(tag, t, hn::Load(tag, scale + j), sine, cosine);
    Put(cosine, tag, out.first + i * out.ld + j, out.stream);
  });
}

template <class T>
HWY_INLINE void FinishComplex(const T* P, int64_t rows, int64_t columns, const T* scale,
                              const BlockOutput<T>& out) {
  ForEachVector<T>(rows, columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    hn::Vec<decltype(tag)> sine, cosine;
    SinCosTurns(tag, hn::Load(tag, P + i * columns + j), hn::Load(tag, scale + j), sine, cosine);
    hn::StoreInterleaved2(cosine, sine, tag, out.first + i * out.ld + 2 * j);
  });
}

template <class T>
HWY_INLINE void FinishScale(const T* P, int64_t rows, int64_t columns, const T* scale,
                            const BlockOutput<T>& out) {
  ForEachVector<T>(rows, columns, [&](auto tag, int64_t i, int64_t j) HWY_ATTR {
    const auto value = hn::Mul(hn::Load(tag, scale + j), hn::Load(tag, P + i * columns + j));
    Put(value, tag, out.first + i * out.ld + j, out.stream);
  });
}

void FinishScaleF32(const float* P, int64_t rows, int64_t columns, const float* scale,
                    const BlockOutput<float>& out) {
  FinishScale(P, rows, columns, scale, out);
}
void FinishScaleF64(const double* P, int64_t rows, int64_t columns, const double* scale,
                    const BlockOutput<double>& out) {
  FinishScale(P, rows, columns, scale, out);
}
void FinishPairF32(const float* P, int64_t rows, int64_t columns, const float* scale,
                   const BlockOutput<float>& out) {
  FinishPair(P, rows, columns, scale, out);
}
void FinishPairF64(const double* P, int64_t rows, int64_t columns, const double* scale,
                   const BlockOutput<double>& out) {
  FinishPair(P, rows, columns, scale, out);
}
void FinishPhaseF32(const float* P, int64_t rows, int64_t columns, const float* scale,
                    const float* phase, const BlockOutput<float>& out) {
  FinishPhase(P, rows, columns, scale, phase, out);
}
void FinishPhaseF64(const double* P, int64_t rows, int64_t columns, const double* scale,
                    const double* phase, const BlockOutput<double>& out) {
  FinishPhase(P, rows, columns, scale, phase, out);
}
void FinishComplexF32(const float* P, int64_t rows, int64_t columns, const float* scale,
                      const BlockOutput<float>& out) {
  FinishComplex(P, rows, columns, scale, out);
}
void FinishComplexF64(const double* P, int64_t rows, int64_t columns, const double* scale,
                      const BlockOutput<double>& out) {
  FinishComplex(P, rows, columns, scale, out);
}

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

void finish_pair(const float* P, int64_t rows, int64_t columns, const float* scale, const float*,
                 const BlockOutput<float>& out) {
  HWY_DYNAMIC_DISPATCH(FinishPairF32)(P, rows, columns, scale, out);
}
void finish_pair(const double* P, int64_t rows, int64_t columns, const double* scale, const double*,
                 const BlockOutput<double>& out) {
  HWY_DYNAMIC_DISPATCH(FinishPairF64)(P, rows, columns, scale, out);
}
void finish_phase(const float* P, int64_t rows, int64_t columns, const float* scale,
                  const float* phase, const BlockOutput<float>& out) {
  HWY_DYNAMIC_DISPATCH(FinishPhaseF32)(P, rows, columns, scale, phase, out);
}
void finish_phase(const double* P, int64_t rows, int64_t columns, const double* scale,
                  const double* phase, const BlockOutput<double>& out) {
  HWY_DYNAMIC_DISPATCH(FinishPhaseF64)(P, rows, columns, scale, phase, out);
}
void finish_complex(const float* P, int64_t rows, int64_t columns, const float* scale, const float*,
                    const BlockOutput<float>& out) {
  HWY_DYNAMIC_DISPATCH(FinishComplexF32)(P, rows, columns, scale, out);
}
void finish_complex(const double* P, int64_t rows, int64_t columns, const double* scale,
                    const double*, const BlockOutput<double>& out) {
  HWY_DYNAMIC_DISPATCH(FinishComplexF64)(P, rows, columns, scale, out);
}
void finish_scale(const float* P, int64_t rows, int64_t columns, const float* scale, const float*,
                  const BlockOutput<float>& out) {
  HWY_DYNAMIC_DISPATCH(FinishScaleF32)(P, rows, columns, scale, out);
}
void finish_scale(const double* P, int64_t rows, int64_t columns, const double* scale,
                  const double*, const BlockOutput<double>& out) {
  HWY_DYNAMIC_DISPATCH(FinishScaleF64)(P, rows, columns, scale, out);
}

}  // namespace mercer::transform
#endif
