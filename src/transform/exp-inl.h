// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Vector exponential, compiled per target: within 2 ulp for every argument, subnormal results
// included; NaN stays. No include guard in the usual sense: Highway's toggle.
#if defined(MERCER_TRANSFORM_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MERCER_TRANSFORM_EXP_INL_H
#undef MERCER_TRANSFORM_EXP_INL_H
#else
#define MERCER_TRANSFORM_EXP_INL_H
#endif

#include "transform/sincos-inl.h"

MERCER_SIMD_BEGIN();

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
