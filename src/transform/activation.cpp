// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Powers of the positive part, and signs: comparisons and products, exact but for the products'
// rounding. Adding P - P, which is 0 for finite numbers and NaN for others, keeps rows with NaN or
// Inf from looking like rows of zeros.
#define HWY_TARGET_INCLUDE "transform/activation.cpp"
#include "transform/simd.h"
//
#include "base/error.h"
#include "transform/activation.h"
#include "transform/gradient_export.h"
#include "transform/row_store-inl.h"

MERCER_SIMD_BEGIN();

// 1[P > 0] P^order.
template <int order, class D, class V = hn::Vec<D>>
HWY_INLINE V PositivePower(D tag, V P, V scale) {
  V power = scale;
  for (int n = 0; n < order; ++n) power = hn::Mul(power, P);
  return hn::Add(hn::IfThenElseZero(hn::Gt(P, hn::Zero(tag)), power), hn::Sub(P, P));
}

template <int order>
struct PositivePowerValue {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Of(D tag, V P, V scale) {
    return PositivePower<order>(tag, P, scale);
  }
};
using StepRow = ElementRow<PositivePowerValue<0>>;
using RampRow = ElementRow<PositivePowerValue<1>>;
using SquaredRampRow = ElementRow<PositivePowerValue<2>>;

struct SignValue {
  template <class D, class V = hn::Vec<D>>
  static HWY_INLINE V Of(D tag, V P, V scale) {
    const V sign = hn::IfThenElse(hn::Lt(P, hn::Zero(tag)), hn::Neg(scale), scale);
    return hn::Add(sign, hn::Sub(P, P));
  }
};
using SignRow = ElementRow<SignValue>;

// order 1[P > 0] P^{order - 1} times the cotangent.
template <int order, class T>
HWY_INLINE void PullBack(const GradientBlock<T>& block) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t row = i * block.columns;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      const auto scale =
          hn::Mul(hn::Set(tag, static_cast<T>(order)), hn::Load(tag, block.scale + j));
      const auto slope = PositivePower<order - 1>(tag, hn::Load(tag, block.P + row + j), scale);
      hn::Store(hn::Mul(slope, hn::Load(tag, block.G + row + j)), tag, block.out + row + j);
    }
  }
}

template <int order, class T>
HWY_INLINE void Slopes(const SlopeRow<T>& row) {
  const hn::CappedTag<T, kPanelColumns<T>> tag;
  const auto factor = hn::Set(tag, static_cast<T>(order));
  for (int64_t j = 0; j < row.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
    const auto P = hn::Load(tag, row.P + j), scale = hn::Load(tag, row.scale + j);
    if (row.value != nullptr) hn::Store(PositivePower<order>(tag, P, scale), tag, row.value + j);
    if (row.slope != nullptr)
      hn::Store(PositivePower<order - 1>(tag, P, hn::Mul(factor, scale)), tag, row.slope + j);
  }
}

MERCER_SIMD_PAIR(FinishStep, EpilogueBlock, FinishBlock<StepRow>)
MERCER_SIMD_PAIR(FinishRamp, EpilogueBlock, FinishBlock<RampRow>)
MERCER_SIMD_PAIR(FinishSquaredRamp, EpilogueBlock, FinishBlock<SquaredRampRow>)
MERCER_SIMD_PAIR(FinishSign, EpilogueBlock, FinishBlock<SignRow>)
MERCER_SIMD_PAIR(PullBackRamp, GradientBlock, PullBack<1>)
MERCER_SIMD_PAIR(PullBackSquaredRamp, GradientBlock, PullBack<2>)

MERCER_SIMD_PAIR(SlopesRamp, SlopeRow, Slopes<1>)
MERCER_SIMD_PAIR(SlopesSquaredRamp, SlopeRow, Slopes<2>)

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(FinishStep);
MERCER_SIMD_EXPORT(FinishRamp);
MERCER_SIMD_EXPORT(FinishSquaredRamp);
MERCER_SIMD_EXPORT(FinishSign);
MERCER_SIMD_EXPORT(PullBackRamp);
MERCER_SIMD_EXPORT(PullBackSquaredRamp);
MERCER_SIMD_EXPORT(SlopesRamp);
MERCER_SIMD_EXPORT(SlopesSquaredRamp);

namespace {

MERCER_EPILOGUE(Step)
MERCER_EPILOGUE(Ramp)
MERCER_EPILOGUE(SquaredRamp)
MERCER_EPILOGUE(Sign)

// A ramp's second derivative is a point mass, and that of its square another function, so both have
// only a first derivative.
MERCER_GRADIENT(ramp_gradient, Ramp, Ramp, 1, false, 0, 1)
MERCER_GRADIENT(squared_ramp_gradient, SquaredRamp, SquaredRamp, 1, false, 0, 1)

}  // namespace

std::unique_ptr<const Epilogue> positive_power_epilogue(int64_t order) {
  constexpr EpilogueShape kShape{.carries = true};
  if (order == 0) return make_epilogue(kShape, Step{});
  if (order == 1) return make_epilogue(kShape, Ramp{}, &ramp_gradient());
  require(order == 2, MERCER_INVALID_ARGUMENT, "order = %ld, expected 0, 1 or 2", order);
  return make_epilogue(kShape, SquaredRamp{}, &squared_ramp_gradient());
}

std::unique_ptr<const Epilogue> sign_epilogue() { return make_epilogue({.carries = true}, Sign{}); }

}  // namespace mercer::transform
#endif
