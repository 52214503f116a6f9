// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// exp(+-P - h) and h cos, h sin. The exponent's rounding, eps (|P| + |h|), is the features'
// relative error.
#define HWY_TARGET_INCLUDE "transform/exponential_epilogue.cpp"
#include "transform/simd.h"
//
#include <algorithm>
#include <cmath>
#include <limits>

#include "transform/elementary-inl.h"
#include "transform/epilogue-inl.h"
#include "transform/exponential_epilogue.h"
#include "transform/panel.h"

MERCER_SIMD_BEGIN();

// Rows of parts exp(P - h) and, for two parts, exp(-P - h); with logs exp(P + phase - h).
template <int parts, bool logs = false>
struct ExpRows {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    using V = hn::Vec<decltype(tag)>;
    const T h = block.row_numbers[i];
    const bool vanishes = h > static_cast<T>(kVanishing);
    const V shift = hn::Set(tag, h);
    RowStore<way, decltype(tag)> plus(tag, block, i, 0), minus(tag, block, i, parts - 1);
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      V P = hn::Load(tag, block.P + i * block.columns + j);
      if constexpr (logs) P = hn::Add(P, hn::Load(tag, block.phase + j));
      const V scale = hn::Load(tag, block.scale + j);
      const auto of = [&](V exponent) HWY_ATTR {
        return vanishes ? hn::Zero(tag) : hn::Mul(scale, Exp(tag, exponent));
      };
      plus.Put(of(hn::Sub(P, shift)), j);
      if (parts == 2) minus.Put(of(hn::Sub(hn::Neg(P), shift)), j);
    }
    plus.Finish();
    if (parts == 2) minus.Finish();
  }
};

using TiltedRows = ExpRows<1, true>;

struct GrowthPairRow {
  template <Way way, class T>
  static HWY_INLINE void Finish(const EpilogueBlock<T>& block, int64_t i) {
    const hn::CappedTag<T, kPanelColumns<T>> tag;
    const auto growth = hn::Set(tag, block.row_numbers[i]);
    RowStore<way, decltype(tag)> cosines(tag, block, i, 0), sines(tag, block, i, 1);
    for (int64_t j = 0; j < block.columns; j += static_cast<int64_t>(hn::Lanes(tag))) {
      hn::Vec<decltype(tag)> sine, cosine;
      SinCosTurns(tag, hn::Load(tag, block.P + i * block.columns + j),
                  hn::Mul(growth, hn::Load(tag, block.scale + j)), sine, cosine);
      cosines.Put(cosine, j);
      sines.Put(sine, j);
    }
    cosines.Finish();
    sines.Finish();
  }
};

template <bool magnitude, class T>
HWY_INLINE T Largest(const T* row, int64_t n) {
  const Tag<T> tag;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  const auto load = [row](auto at, int64_t j) HWY_ATTR {
    const auto value = hn::LoadU(at, row + j);
    return magnitude ? hn::Abs(value) : value;
  };
  auto most = hn::Set(tag, hn::GetLane(load(one, 0)));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) most = hn::Max(most, load(tag, j));
  T all = hn::GetLane(hn::MaxOfLanes(tag, most));
  for (; j < n; ++j) all = std::max(all, hn::GetLane(load(one, j)));
  return all;
}

template <class T>
HWY_INLINE void ExpRow(const T* P, int64_t n, T sign, T shift, T scale, T* out) {
  ForEach<T>(n, [=](auto tag, int64_t j) HWY_ATTR {
    const auto exponent =
        hn::Sub(hn::Mul(hn::Set(tag, sign), hn::LoadU(tag, P + j)), hn::Set(tag, shift));
    hn::StoreU(hn::Mul(hn::Set(tag, scale), Exp(tag, exponent)), tag, out + j);
  });
}

MERCER_SIMD_PAIR(FinishExp, EpilogueBlock, FinishBlock<ExpRows<1>>)
MERCER_SIMD_PAIR(FinishTilted, EpilogueBlock, FinishBlock<TiltedRows>)
MERCER_SIMD_PAIR(FinishHyperbolic, EpilogueBlock, FinishBlock<ExpRows<2>>)
MERCER_SIMD_PAIR(FinishGrownPair, EpilogueBlock, FinishBlock<GrowthPairRow>)
float LargestF32(const float* row, int64_t n) { return Largest<false>(row, n); }
double LargestF64(const double* row, int64_t n) { return Largest<false>(row, n); }
float LargestMagnitudeF32(const float* row, int64_t n) { return Largest<true>(row, n); }
double LargestMagnitudeF64(const double* row, int64_t n) { return Largest<true>(row, n); }
void ExpRowF32(const float* P, int64_t n, float sign, float shift, float scale, float* out) {
  ExpRow(P, n, sign, shift, scale, out);
}
void ExpRowF64(const double* P, int64_t n, double sign, double shift, double scale, double* out) {
  ExpRow(P, n, sign, shift, scale, out);
}

// Features and slopes of exp(+-P - h), exp(P + phase - h) and exp(-P) as functions of P;
// transform/row_prologue.h differentiates the factor that the row's number stands for.

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

MERCER_SIMD_EXPORT(FinishExp);
MERCER_SIMD_EXPORT(FinishTilted);
MERCER_SIMD_EXPORT(FinishHyperbolic);
MERCER_SIMD_EXPORT(FinishGrownPair);
MERCER_SIMD_EXPORT(Largest);
MERCER_SIMD_EXPORT(LargestMagnitude);
MERCER_SIMD_EXPORT(ExpRow);

namespace {

MERCER_EPILOGUE(Exp)
MERCER_EPILOGUE(Tilted)
MERCER_EPILOGUE(Hyperbolic)
MERCER_EPILOGUE(GrownPair)

// sum_k (x_k scale(k))^2, in eight sums side by side: one alone waits for every addition.
template <class T, class Scale>
double squared_norm(const T* x, int64_t count, const Scale& scale) noexcept {
  constexpr int64_t kLanes = 8;
  const auto square = [&](int64_t k) {
    const double u = static_cast<double>(x[k]) * scale(k);
    return u * u;
  };
  double lanes[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= count; k += kLanes)
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] += square(k + l);
  for (int64_t l = 0; k < count; ++k, ++l) lanes[l] += square(k);
  double squares = 0;
  for (const double lane : lanes) squares += lane;
  return squares;
}

template <class T>
double squared_norm(const T* x, int64_t count, const std::vector<double>& inverse) noexcept {
  const double* const of = inverse.data();
  if (inverse.size() > 1) return squared_norm(x, count, [=](int64_t k) { return of[k]; });
  return squared_norm(x, count, [one = inverse[0]](int64_t) { return one; });
}

template <class T>
bool all_finite(const T* x, int64_t count) noexcept {
  return std::all_of(x, x + count, [](T one) { return std::isfinite(one); });
}

}  // namespace

std::unique_ptr<const Epilogue> exp_epilogue() {
  return make_epilogue({.row_numbers = 1, .carries = true}, Exp{}, &exp_gradient());
}
std::unique_ptr<const Epilogue> tilted_epilogue() {
  return make_epilogue({.row_numbers = 1, .carries = true}, Tilted{}, &tilted_gradient());
}
std::unique_ptr<const Epilogue> hyperbolic_epilogue() {
  return make_epilogue({.row_numbers = 1, .parts = 2, .carries = true}, Hyperbolic{},
                       &hyperbolic_gradient());
}
std::unique_ptr<const Epilogue> grown_pair_epilogue() {
  return make_epilogue({.row_numbers = 1, .parts = 2, .carries = true}, GrownPair{},
                       &grown_pair_gradient());
}

std::shared_ptr<const RowPrologue> half_norm_prologue(std::vector<double> lengthscale,
                                                      double factor, bool grown) {
  // Sparse rows do not pass their columns, which a lengthscale per input needs.
  const bool keeps_zeros = lengthscale.size() <= 1;
  for (double& l : lengthscale) l = 1 / l;
  std::vector<double> curvature;  // second derivative of -log of the row factor
  for (const double inverse : lengthscale)
    curvature.push_back((grown ? -factor : factor) * inverse * inverse);
  return make_prologue(
      {.row_numbers = 1, .keeps_zeros = keeps_zeros},
      [inverse = std::move(lengthscale), factor, grown]<class T>(const T* x, int64_t count, T*,
                                                                 T* number) noexcept {
        // Without a factor the norm is not needed, and must not overflow.
        const double half = factor == 0 ? 0 : factor * squared_norm(x, count, inverse) / 2;
        constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
        if ((factor == 0 || !std::isfinite(half)) && !all_finite(x, count)) {
          *number = std::numeric_limits<T>::quiet_NaN();
        } else {
          *number = static_cast<T>(grown ? std::exp(half) : std::min(half, kMost));
        }
      },
      radial_derivative(std::move(curvature)));
}

float largest(const float* row, int64_t n) noexcept {
  return HWY_DYNAMIC_DISPATCH(LargestF32)(row, n);
}
double largest(const double* row, int64_t n) noexcept {
  return HWY_DYNAMIC_DISPATCH(LargestF64)(row, n);
}
float largest_magnitude(const float* row, int64_t n) noexcept {
  return HWY_DYNAMIC_DISPATCH(LargestMagnitudeF32)(row, n);
}
double largest_magnitude(const double* row, int64_t n) noexcept {
  return HWY_DYNAMIC_DISPATCH(LargestMagnitudeF64)(row, n);
}
void exp_row(const float* P, int64_t n, float sign, float shift, float scale, float* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ExpRowF32)(P, n, sign, shift, scale, out);
}
void exp_row(const double* P, int64_t n, double sign, double shift, double scale,
             double* out) noexcept {
  HWY_DYNAMIC_DISPATCH(ExpRowF64)(P, n, sign, shift, scale, out);
}

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
