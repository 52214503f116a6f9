// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Vector sine and cosine of angles in turns, and the exponential, compiled per target. No include
// guard in the usual sense: Highway's toggle.
#if defined(MERCER_TRANSFORM_ELEMENTARY_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MERCER_TRANSFORM_ELEMENTARY_INL_H
#undef MERCER_TRANSFORM_ELEMENTARY_INL_H
#else
#define MERCER_TRANSFORM_ELEMENTARY_INL_H
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

// Exponential: within 2 ulp for every argument, subnormal results included; NaN stays.

// exp(r) = 1 + r + r^2 Q(r), |r| <= log(2)/2, Q interpolated at Chebyshev nodes with 40 digits:
// errors 1e-8 (float) and 2e-19 (double). high + low = log 2, high short enough that its multiples
// are exact; the result is 0 below least and infinity above most.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr int kMantissa = 23, kBias = 127, kTerms = 5;
  static constexpr float least = -104, most = 89, shift = 12582912;  // 1.5 2^23
  static constexpr float high = 0.693359375f, low = -2.121944400546906e-4f;
  static constexpr float terms[] = {0.5f, 0.166665769896987756828f, 0.0416665546172045742025f,
                                    0.0083631790527225773704f, 0.0013926183587713494542f};
};
template <>
struct ExpConstants<double> {
  static constexpr int kMantissa = 52, kBias = 1023, kTerms = 11;
  static constexpr double least = -746, most = 710, shift = 6755399441055744;  // 1.5 2^52
  static constexpr double high = 6.93145751953125e-1, low = 1.428606820309417232121e-6;
  static constexpr double terms[] = {0.5,
                                     0.166666666666666709907,
                                     0.0416666666666666697546,
                                     0.00833333333332613512578,
                                     0.00138888888888837483046,
                                     0.000198412698748206252712,
                                     0.0000248015873255477412163,
                                     0.00000275572554002064244297,
                                     2.75572736431102953278e-7,
                                     2.51052170047207451643e-8,
                                     2.09146869680868772326e-9};
};

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D tag, V x) {
  using T = hn::TFromD<D>;
  using Constants = ExpConstants<T>;
  const hn::RebindToSigned<D> integers;
  const auto set = [tag](T value) HWY_ATTR { return hn::Set(tag, value); };
  // Comparisons are false for NaN, so NaN passes through.
  x = hn::IfThenElse(hn::Lt(x, set(Constants::least)), set(Constants::least), x);
  x = hn::IfThenElse(hn::Gt(x, set(Constants::most)), set(Constants::most), x);
  // The last bits of the sum hold the nearest integer n to x / log 2.
  const V shifted =
      hn::MulAdd(x, set(static_cast<T>(1.44269504088896340736)), set(Constants::shift));
  const V n = hn::Sub(shifted, set(Constants::shift));
  const V r = hn::NegMulAdd(n, set(Constants::low), hn::NegMulAdd(n, set(Constants::high), x));
  const V q = Horner<Constants::kTerms>(tag, r, Constants::terms);
  const V e = hn::Add(set(1), hn::MulAdd(hn::Mul(r, r), q, r));
  // 2^n as two factors, neither of which overflows or is subnormal.
  const auto whole =
      hn::Sub(hn::BitCast(integers, shifted), hn::BitCast(integers, set(Constants::shift)));
  const auto half = hn::ShiftRight<1>(whole);
  const auto power = [=](auto k) HWY_ATTR {
    const auto bias = hn::Set(integers, Constants::kBias);
    return hn::BitCast(tag, hn::ShiftLeft<Constants::kMantissa>(hn::Add(k, bias)));
  };
  return hn::Mul(hn::Mul(e, power(half)), power(hn::Sub(whole, half)));
}

MERCER_SIMD_END();
#endif
