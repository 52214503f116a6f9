// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features and slopes of exp(+-P - h), exp(P + phase - h) and exp(-P) as functions of P; transform/row_derivative.h
// differentiates the factor that the row's number stands for.
#define HWY_TARGET_INCLUDE "transform/exponential_gradient.cpp"
#include "transform/simd.h"
//
#include "transform/dense_panel.h"
#include "transform/exp-inl.h"
#include "transform/exponential.h"
#include "transform/gradient_export.h"

MERCER_SIMD_BEGIN();

// Writes scale exp(sign P - shift) to `part` and sign times it as the slope; 0 if it vanishes.
template <bool logs = false, class T>
HWY_INLINE void ExpPart(const SlopeRow<T>& row, int part, T sign, T shift, bool vanishes) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  const auto signs = hn::Set(tag, sign), shifts = hn::Set(tag, shift);
  for (int64_t j = 0; j < row.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
    auto P = hn::Mul(signs, hn::Load(tag, row.P + j));
    if constexpr (logs) P = hn::Add(P, hn::Load(tag, row.phase + j));
    const auto exponent = hn::Sub(P, shifts);
    const auto value =
        vanishes ? hn::Zero(tag) : hn::Mul(hn::Load(tag, row.scale + j), Exp(tag, exponent));
    const int64_t to = part * row.part_step + j;
    if (row.value != nullptr) hn::Store(value, tag, row.value + to);
    if (row.slope != nullptr) hn::Store(hn::Mul(signs, value), tag, row.slope + to);
  }
}

template <class T>
HWY_INLINE void SlopesTiltedRow(const SlopeRow<T>& row) {
  const T h = *row.row_number;
  ExpPart<true>(row, 0, T{1}, h, h > static_cast<T>(kVanishing));
}

template <int parts, class T>
HWY_INLINE void SlopesExpRow(const SlopeRow<T>& row) {
  const T h = *row.row_number;
  const bool vanishes = h > static_cast<T>(kVanishing);
  ExpPart(row, 0, T{1}, h, vanishes);
  if (parts == 2) ExpPart(row, 1, T{-1}, h, vanishes);
}

MERCER_SIMD_PAIR(SlopesExp, SlopeRow, SlopesExpRow<1>)
MERCER_SIMD_PAIR(SlopesTilted, SlopeRow, SlopesTiltedRow)
MERCER_SIMD_PAIR(SlopesHyperbolic, SlopeRow, SlopesExpRow<2>)
void SlopesDecayF32(const SlopeRow<float>& row) { ExpPart(row, 0, -1.0f, 0.0f, false); }
void SlopesDecayF64(const SlopeRow<double>& row) { ExpPart(row, 0, -1.0, 0.0, false); }

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(SlopesExp);
MERCER_SIMD_EXPORT(SlopesTilted);
MERCER_SIMD_EXPORT(SlopesHyperbolic);
MERCER_SIMD_EXPORT(SlopesDecay);

MERCER_SLOPE_GRADIENT(exp_gradient, Exp, 1, false, 1, kAnyOrder)
MERCER_SLOPE_GRADIENT(tilted_gradient, Tilted, 1, false, 1, kAnyOrder)
MERCER_SLOPE_GRADIENT(hyperbolic_gradient, Hyperbolic, 2, false, 1, kAnyOrder)
MERCER_SLOPE_GRADIENT(decay_gradient, Decay, 1, false, 1, kAnyOrder)

}  // namespace mercer::transform
#endif
