// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// ComplexFft has the sign +, so its y_k is Z_{-k} of the transform Z with the sign -; likewise a
// transform of Y_{-k} inverts. The spectra of x1 and x2 are (Z_k + c)/2 and (Z_k - c)/(2i), c =
// conj Z_{-k}; with G and H, the filters' spectra, that of the result is
//  Y_k = G_k (Z_k + c)/2 + H_k (Z_k - c)/2 = A_k Z_k + B_k c,  A = (G + H)/2, B = (G - H)/2.
// A_{-k} = conj A_k, since G and H belong to real vectors, so k and n - k share stored numbers: for
// k <= n/2 the real parts of A, its imaginary parts, and those of B.
#define HWY_TARGET_INCLUDE "transform/real_pair.cpp"
#include "transform/real_pair.h"

#include "transform/simd.h"

MERCER_SIMD_BEGIN();

template <class T>
HWY_INLINE void Pack(const T* a, const T* x, const T* b, const T* y, int64_t count, T* z) {
  ForEach<T>(count, [&](auto tag, int64_t k) HWY_ATTR {
    const auto re = hn::Mul(hn::LoadU(tag, a + k), hn::LoadU(tag, x + k));
    const auto im = hn::Mul(hn::LoadU(tag, b + k), hn::LoadU(tag, y + k));
    hn::StoreInterleaved2(re, im, tag, z + 2 * k);
  });
}

template <class T>
HWY_INLINE void Unpack(const T* z, const T* a, const T* b, int64_t count, T* x, T* y) {
  ForEach<T>(count, [&](auto tag, int64_t k) HWY_ATTR {
    hn::Vec<decltype(tag)> re, im;
    hn::LoadInterleaved2(tag, z + 2 * k, re, im);
    hn::StoreU(hn::Mul(hn::LoadU(tag, a + k), re), tag, x + k);
    hn::StoreU(hn::Mul(hn::LoadU(tag, b + k), im), tag, y + k);
  });
}

// Y_k and Y_{-k}, k and the lanes after it.
template <class D, class T>
HWY_INLINE void MultiplyBoth(D tag, const T* filters, int64_t n, T sign, int64_t k, const T* y,
                             T* product) {
  const int64_t half = n / 2 + 1;
  const int64_t mirror = k == 0 ? 0 : n - k - static_cast<int64_t>(hn::Lanes(tag)) + 1;
  const auto s = hn::Set(tag, sign);
  const auto a = hn::LoadU(tag, filters + k), b = hn::LoadU(tag, filters + 2 * half + k);
  const auto ai = hn::Mul(s, hn::LoadU(tag, filters + half + k));
  const auto bi = hn::Mul(s, hn::LoadU(tag, filters + 3 * half + k));
  hn::Vec<D> re, im, zr, zi;  // of conj c = y_k, and of Z_k = y_{-k}
  hn::LoadInterleaved2(tag, y + 2 * k, re, im);
  hn::LoadInterleaved2(tag, y + 2 * mirror, zr, zi);
  zr = hn::Reverse(tag, zr), zi = hn::Reverse(tag, zi);
  const auto low_re = hn::MulAdd(a, zr, hn::NegMulAdd(ai, zi, hn::MulAdd(b, re, hn::Mul(bi, im))));
  const auto low_im = hn::MulAdd(a, zi, hn::MulAdd(ai, zr, hn::NegMulAdd(b, im, hn::Mul(bi, re))));
  const auto high_re = hn::MulAdd(a, re, hn::MulAdd(ai, im, hn::NegMulAdd(bi, zi, hn::Mul(b, zr))));
  const auto high_im =
      hn::MulAdd(a, im, hn::NegMulAdd(ai, re, hn::NegMulAdd(b, zi, hn::Neg(hn::Mul(bi, zr)))));
  hn::StoreInterleaved2(low_re, low_im, tag, product + 2 * k);
  hn::StoreInterleaved2(hn::Reverse(tag, high_re), hn::Reverse(tag, high_im), tag,
                        product + 2 * mirror);
}

// Blocks of k that cover 1 .. n/2, the last overlapping the one before; 0 separately. Which of two
// equal numbers is kept depends on n alone.
template <class D, class T>
HWY_INLINE bool Cover(D tag, const T* filters, int64_t n, T sign, const T* y, T* product) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag)), end = n / 2 + 1;
  if (end - 1 < lanes) return false;
  int64_t k = 1;
  for (; k + lanes <= end; k += lanes) MultiplyBoth(tag, filters, n, sign, k, y, product);
  if (k < end) MultiplyBoth(tag, filters, n, sign, end - lanes, y, product);
  return true;
}

template <class T>
HWY_INLINE void MultiplyAll(const T* filters, int64_t n, bool correlate, const T* y, T* product) {
  const T sign = correlate ? T{-1} : T{1};
  const hn::CappedTag<T, 1> one;
  if (!Cover(Tag<T>(), filters, n, sign, y, product) &&
      !Cover(hn::CappedTag<T, 8>(), filters, n, sign, y, product))
    Cover(one, filters, n, sign, y, product);
  MultiplyBoth(one, filters, n, sign, 0, y, product);
}

void PackF32(const float* a, const float* x, const float* b, const float* y, int64_t count,
             float* z) {
  Pack(a, x, b, y, count, z);
}
void PackF64(const double* a, const double* x, const double* b, const double* y, int64_t count,
             double* z) {
  Pack(a, x, b, y, count, z);
}
void UnpackF32(const float* z, const float* a, const float* b, int64_t count, float* x, float* y) {
  Unpack(z, a, b, count, x, y);
}
void UnpackF64(const double* z, const double* a, const double* b, int64_t count, double* x,
               double* y) {
  Unpack(z, a, b, count, x, y);
}
void MultiplyF32(const float* filters, int64_t n, bool correlate, const float* y, float* product) {
  MultiplyAll(filters, n, correlate, y, product);
}
void MultiplyF64(const double* filters, int64_t n, bool correlate, const double* y,
                 double* product) {
  MultiplyAll(filters, n, correlate, y, product);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Pack);
MERCER_SIMD_EXPORT(Unpack);
MERCER_SIMD_EXPORT(Multiply);

void pack_pair(const float* a, const float* x, const float* b, const float* y, int64_t count,
               float* z) noexcept {
  HWY_DYNAMIC_DISPATCH(PackF32)(a, x, b, y, count, z);
}
void pack_pair(const double* a, const double* x, const double* b, const double* y, int64_t count,
               double* z) noexcept {
  HWY_DYNAMIC_DISPATCH(PackF64)(a, x, b, y, count, z);
}
void unpack_pair(const float* z, const float* a, const float* b, int64_t count, float* x,
                 float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(UnpackF32)(z, a, b, count, x, y);
}
void unpack_pair(const double* z, const double* a, const double* b, int64_t count, double* x,
                 double* y) noexcept {
  HWY_DYNAMIC_DISPATCH(UnpackF64)(z, a, b, count, x, y);
}
void multiply_pair(const float* filters, int64_t n, bool correlate, const float* y,
                   float* product) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF32)(filters, n, correlate, y, product);
}
void multiply_pair(const double* filters, int64_t n, bool correlate, const double* y,
                   double* product) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF64)(filters, n, correlate, y, product);
}

template <class T>
void make_pair_filters(const double* y, int64_t n, double share, T* filters) noexcept {
  const int64_t half = n / 2 + 1;
  for (int64_t k = 0; k < half; ++k) {
    const double* const c = y + 2 * k;                     // conjugate
    const double* const z = y + 2 * (k == 0 ? 0 : n - k);  // G + iH
    const double gr = (z[0] + c[0]) / 2, gi = (z[1] - c[1]) / 2;
    const double hr = (z[1] + c[1]) / 2, hi = (c[0] - z[0]) / 2;
    filters[k] = static_cast<T>((gr + hr) / 2 * share);
    filters[half + k] = static_cast<T>((gi + hi) / 2 * share);
    filters[2 * half + k] = static_cast<T>((gr - hr) / 2 * share);
    filters[3 * half + k] = static_cast<T>((gi - hi) / 2 * share);
  }
}
template void make_pair_filters(const double*, int64_t, double, float*) noexcept;
template void make_pair_filters(const double*, int64_t, double, double*) noexcept;

}  // namespace mercer::transform
#endif
