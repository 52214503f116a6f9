// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Vector sine and cosine of angles in turns, compiled per target. No include guard in the usual
// sense: Highway's toggle.
#if defined(MERCER_TRANSFORM_SINCOS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MERCER_TRANSFORM_SINCOS_INL_H
#undef MERCER_TRANSFORM_SINCOS_INL_H
#else
#define MERCER_TRANSFORM_SINCOS_INL_H
#endif

MERCER_SIMD_BEGIN();

// Near-minimax polynomials in x = z^2, z in [0, 1/8] turns, interpolated at Chebyshev nodes with 40
// digits:
//   sin(2 pi z) = z S(x), cos(2 pi z) = 1 + x C(x).
// Approximation errors: float 2.5e-9 and 2e-10, double 2.5e-18 and 1.3e-19, far below the rounding
// of the evaluation.
template <class T>
struct SinCosCoefficients;
template <>
struct SinCosCoefficients<float> {
  static constexpr int kSine = 4;
  static constexpr int kCosine = 4;
  static constexpr float sine[] = {6.2831852878129468f, -41.34166257054795520f,
                                   81.592542871301542912f, -75.4016127027474595840f};
  static constexpr float cosine[] = {-19.7392087899875104f, 64.93936905141977600f,
                                     -85.448820089651073024f, 59.42410598175647399936f};
};
template <>
struct SinCosCoefficients<double> {
  static constexpr int kSine = 7;
  static constexpr int kCosine = 7;
  static constexpr double sine[] = {6.2831853071795864572,        -41.34170224039963620672,
                                    81.605249275948035209216,     -76.7058597042745506480128,
                                    42.05868502016089404735488,   -15.093804209987113512337408,
                                    3.780868959302295518374264832};
  static constexpr double cosine[] = {-19.7392088021787172304,       64.93939402266824274176,
                                      -85.456817206643804246016,     60.24464135270200893308928,
                                      -26.426253275854721253376,     7.90320691156967842914500608,
                                      -1.699034394066063635615685018};
};

template <int kCount, class D, class V, class T>
HWY_INLINE V Horner(D tag, V x, const T* coefficients) {
  V sum = hn::Set(tag, coefficients[kCount - 1]);
#pragma GCC unroll 8
  for (int i = kCount - 2; i >= 0; --i) sum = hn::MulAdd(sum, x, hn::Set(tag, coefficients[i]));
  return sum;
}

// scale * sin(2 pi t) and scale * cos(2 pi t).
template <class D, class V = hn::Vec<D>>
HWY_INLINE void SinCosTurns(D tag, V t, V scale, V& sine, V& cosine) {
  using T = hn::TFromD<D>;
  using Coefficients = SinCosCoefficients<T>;
  const V quarter = hn::Set(tag, static_cast<T>(0.25));
  const V half = hn::Set(tag, static_cast<T>(0.5));
  const V sign = hn::SignBit(tag);
  // Every fold is exact: t - round(t) is a multiple of ulp(t) of magnitude <= 1/2, and 1/2 - a and
  // 1/4 - y become z only for a >= 1/4 and y >= 1/8, where Sterbenz' lemma holds.
  const V u = hn::Sub(t, hn::Round(t));
  const V a = hn::Abs(u);
  const V y = hn::Min(a, hn::Sub(half, a));
  const V other = hn::Sub(quarter, y);
  const V z = hn::Min(y, other);
  const auto swap = hn::Gt(y, other);
  const V x = hn::Mul(z, z);
  const V s = hn::Mul(z, Horner<Coefficients::kSine>(tag, x, Coefficients::sine));
  const V c = hn::MulAdd(x, Horner<Coefficients::kCosine>(tag, x, Coefficients::cosine),
                         hn::Set(tag, static_cast<T>(1)));
  sine = hn::Mul(hn::IfThenElse(swap, c, s), hn::Xor(scale, hn::And(u, sign)));
  cosine = hn::Mul(hn::IfThenElse(swap, s, c), hn::Xor(scale, hn::And(hn::Sub(quarter, a), sign)));
}

MERCER_SIMD_END();
#endif
