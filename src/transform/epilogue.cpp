// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Epilogues of random Fourier features, from P in turns to cos/sin pairs, cosines with a phase or
// complex exponentials; of Laplace features, exp(-P); and of linear maps, P scaled. The bits of an
// element depend on its own operands alone.
#define HWY_TARGET_INCLUDE "transform/epilogue.cpp"
#include "transform/simd.h"
//
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "transform/elementary-inl.h"
#include "transform/epilogue-inl.h"
#include "transform/epilogue.h"
#include "transform/panel.h"

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

// Derivatives of the forms of random Fourier features, and of scaled P: sine and cosine are
// recomputed, which costs less than reading Z.

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

// Powers of the positive part, and signs: comparisons and products, exact but for the products'
// rounding. Adding P - P, which is 0 for finite numbers and NaN for others, keeps rows with NaN or
// Inf from looking like rows of zeros.

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

// P_0^2 + P_1^2 to the power `half`, times first.
template <class V>
HWY_INLINE V Modulus(V re, V im, V first, int64_t half) {
  const V square = hn::MulAdd(re, re, hn::Mul(im, im));
  V value = hn::Mul(first, square);
  for (int64_t n = 1; n < half; ++n) value = hn::Mul(value, square);
  return value;
}

struct ModulusRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i, int64_t half) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    RowStore<way, decltype(tag)> row(tag, block, i, 0);
    const T* const re = block.P + i * block.columns;
    const T* const im = re + block.factor_step;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      row.Put(Modulus(hn::Load(tag, re + j), hn::Load(tag, im + j), hn::Load(tag, block.scale + j),
                      half),
              j);
    }
    row.Finish();
  }
};

struct CameraRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i, int64_t half, double gain,
                                double most) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    const auto per = hn::Set(tag, static_cast<T>(gain)), top = hn::Set(tag, static_cast<T>(most));
    RowStore<way, decltype(tag)> row(tag, block, i, 0);
    const T* const re = block.P + i * block.columns;
    const T* const im = re + block.factor_step;
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      const auto value = Modulus(hn::Load(tag, re + j), hn::Load(tag, im + j), per, half);
      // A comparison, so that NaN passes; values beyond the top are not rounded.
      const auto level = hn::IfThenElse(hn::Gt(value, top), top, value);
      row.Put(hn::Mul(hn::Load(tag, block.scale + j), hn::Round(level)), j);
    }
    row.Finish();
  }
};

void FinishModulusF32(const EpilogueBlock<float>& block, int64_t half) {
  FinishBlock<ModulusRow>(block, half);
}
void FinishModulusF64(const EpilogueBlock<double>& block, int64_t half) {
  FinishBlock<ModulusRow>(block, half);
}

void FinishCameraF32(const EpilogueBlock<float>& block, int64_t half, double gain, double most) {
  FinishBlock<CameraRow>(block, half, gain, most);
}
void FinishCameraF64(const EpilogueBlock<double>& block, int64_t half, double gain, double most) {
  FinishBlock<CameraRow>(block, half, gain, most);
}

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

// Cotangents of P from the slopes of the features, some columns at a time, so that the slopes stay
// in the L1 cache.

namespace {

constexpr int64_t kColumns = 256;
constexpr int64_t kMostParts = 2;

// Separate lanes let the compiler vectorise; they also fix the order of sums.
template <class T>
double sum_of_products(const T* a, const T* b, int64_t count) noexcept {
  constexpr int64_t kLanes = 8;
  static_assert(kPanelColumns<T> % kLanes == 0);
  double lane[kLanes] = {};
  for (int64_t j = 0; j < count; j += kLanes)
    for (int64_t l = 0; l < kLanes; ++l)
      lane[l] += static_cast<double>(a[j + l]) * static_cast<double>(b[j + l]);
  for (int64_t width = kLanes / 2; width > 0; width /= 2)
    for (int64_t l = 0; l < width; ++l) lane[l] += lane[l + width];
  return lane[0];
}

template <class T>
void pull_back_by_slopes(const EpilogueGradient& gradient, const GradientBlock<T>& block) noexcept {
  alignas(64) T value[kMostParts * kColumns];
  alignas(64) T slope[kMostParts * kColumns];
  const T angle = static_cast<T>(gradient.angle());
  const int64_t parts = gradient.gradient_parts();
  for (int64_t i = 0; i < block.rows; ++i) {
    for (int64_t j0 = 0; j0 < block.columns; j0 += kColumns) {
      const int64_t count = std::min(kColumns, block.columns - j0), at = i * block.columns + j0;
      gradient.slopes({block.P + at, block.scale + j0, block.phase + j0,
                       block.sums != nullptr ? value : nullptr, slope, kColumns, count,
                       block.row_numbers != nullptr ? block.row_numbers + i : nullptr});
      for (int64_t p = 0; p < parts; ++p) {
        const T* const G = block.G + p * block.part_step + at;
        T* const own = slope + p * kColumns;
        if (block.sums != nullptr) block.sums[i] += sum_of_products(G, value + p * kColumns, count);
        for (int64_t j = 0; j < count; ++j) own[j] *= G[j];
        if (p > 0)
          for (int64_t j = 0; j < count; ++j) slope[j] += own[j];
      }
      for (int64_t j = 0; j < count; ++j) block.out[at + j] = angle * slope[j];
    }
  }
}

}  // namespace

void EpilogueGradient::pull_back(const GradientBlock<float>& block) const noexcept {
  pull_back_by_slopes(*this, block);
}
void EpilogueGradient::pull_back(const GradientBlock<double>& block) const noexcept {
  pull_back_by_slopes(*this, block);
}

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

MERCER_SIMD_EXPORT(FinishModulus);
MERCER_SIMD_EXPORT(FinishCamera);

namespace {

/// Of one factor both parts are that one.
template <class T>
EpilogueBlock<T> both_parts(EpilogueBlock<T> block, int factors) {
  if (factors == 1) block.factor_step = 0;
  return block;
}

struct PowerOfModulus {
  int factors;
  int64_t half;
  void operator()(const EpilogueBlock<float>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishModulusF32)(both_parts(block, factors), half);
  }
  void operator()(const EpilogueBlock<double>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishModulusF64)(both_parts(block, factors), half);
  }
};

struct Camera {
  int factors;
  int64_t half;
  double gain;
  double most;
  void operator()(const EpilogueBlock<float>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishCameraF32)(both_parts(block, factors), half, gain, most);
  }
  void operator()(const EpilogueBlock<double>& block) const noexcept {
    HWY_DYNAMIC_DISPATCH(FinishCameraF64)(both_parts(block, factors), half, gain, most);
  }
};

}  // namespace

std::unique_ptr<const Epilogue> modulus_epilogue(int factors, int64_t half) {
  return make_epilogue({.factors = factors, .carries = true}, PowerOfModulus{factors, half});
}

std::unique_ptr<const Epilogue> recorded_modulus_epilogue(int factors, int64_t half, double gain,
                                                          double most) {
  return make_epilogue({.factors = factors, .carries = true}, Camera{factors, half, gain, most});
}

std::shared_ptr<const RowPrologue> finite_prologue() {
  return make_prologue({.rewrites = true, .keeps_zeros = true},
                       []<class T>(const T* x, int64_t count, T* out, T*) noexcept {
                         for (int64_t k = 0; k < count; ++k)
                           out[k] =
                               std::isfinite(x[k]) ? x[k] : std::numeric_limits<T>::quiet_NaN();
                       });
}

}  // namespace mercer::transform
#endif
