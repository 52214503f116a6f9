// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The transform F of z_j = x_{2j} + i x_{2j+1}, j < n, determines that of the real x of length 2n:
// with c = conj F_{n-k} and w = exp(pi i k/n), the even and the odd half have the spectra E = (F_k
// + c)/2 and O = (F_k - c)/(2i), and X_k = E + w O, conj X_{n-k} = E - w O (Cooley, Lewis, Welch
// 1970). The products of these two over the factors are independent of all other k, and give E, O
// and F of the product in the same way. So one pass turns F of every factor into F of the product,
// k and n - k together, and no full spectrum is stored.
//
// An entry may be computed twice with equal bits, or as k and as n - k; which one is kept depends
// on n alone.
#define HWY_TARGET_INCLUDE "transform/spectrum.cpp"
#include "transform/simd.h"
//
#include "transform/spectrum.h"

MERCER_SIMD_BEGIN();

// Calls body(tag, i) for blocks that cover [begin, end); the last may overlap the one before.
template <class T, class Body>
HWY_INLINE void Cover(int64_t begin, int64_t end, const Body& body) {
  const hn::CappedTag<T, 64 / sizeof(T)> tag;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t i = begin;
  if (end - begin >= lanes) {
    for (; i + lanes <= end; i += lanes) body(tag, i);
    if (i < end) body(tag, end - lanes);
  } else {
    for (; i < end; ++i) body(one, i);
  }
}

// Vectors of complex numbers.
template <class V>
struct Complex {
  V re;
  V im;
};

template <class D, class T, class V = hn::Vec<D>>
HWY_INLINE Complex<V> LoadPairs(D tag, const T* z) {
  Complex<V> out;
  hn::LoadInterleaved2(tag, z, out.re, out.im);
  return out;
}
template <class V>
HWY_INLINE Complex<V> Multiply(const Complex<V>& a, const Complex<V>& b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
          hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}
template <class V>
HWY_INLINE Complex<V> Add(const Complex<V>& a, const Complex<V>& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> Subtract(const Complex<V>& a, const Complex<V>& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> Scale(V s, const Complex<V>& a) {
  return {hn::Mul(s, a.re), hn::Mul(s, a.im)};
}

template <class T>
HWY_INLINE void MultiplyAll(Spectra<T> spectra, int64_t n, T scale, bool conjugate, T* product) {
  const T imaginary = conjugate ? T{-1} : T{1};
  Cover<T>(0, n, [&](auto tag, int64_t k) HWY_ATTR {
    auto z = Scale(hn::Set(tag, scale), LoadPairs(tag, spectra.first + 2 * k));
    for (int64_t f = 1; f < spectra.count; ++f)
      z = Multiply(z, LoadPairs(tag, spectra.first + f * spectra.stride + 2 * k));
    hn::StoreInterleaved2(z.re, hn::Mul(hn::Set(tag, imaginary), z.im), tag, product + 2 * k);
  });
}

// X_k and conj X_{n-k} of one factor.
template <class V>
struct Halves {
  Complex<V> low;
  Complex<V> high;
};

// mirror: start of the block that ends the sequence n - k, n - k - 1, ...
template <class D, class T, class V = hn::Vec<D>>
HWY_INLINE Halves<V> Unpack(D tag, const T* F, int64_t k, int64_t mirror, const Complex<V>& t) {
  const Complex<V> z = LoadPairs(tag, F + 2 * k), reversed = LoadPairs(tag, F + 2 * mirror);
  const Complex<V> c = {hn::Reverse(tag, reversed.re), hn::Neg(hn::Reverse(tag, reversed.im))};
  const Complex<V> even = Scale(hn::Set(tag, T(0.5)), Add(z, c)), odd = Multiply(t, Subtract(z, c));
  return {Add(even, odd), Subtract(even, odd)};
}

template <class D, class T>
HWY_INLINE void MultiplyPacked(D tag, Spectra<T> spectra, int64_t n, int64_t k, const T* twiddle,
                               T scale, T* product) {
  using V = hn::Vec<D>;
  const int64_t mirror = k == 0 ? 0 : n - k - static_cast<int64_t>(hn::Lanes(tag)) + 1;
  const Complex<V> t = {hn::LoadU(tag, twiddle + k), hn::LoadU(tag, twiddle + n / 2 + 1 + k)};
  Halves<V> x = Unpack(tag, spectra.first, k, mirror, t);
  for (int64_t f = 1; f < spectra.count; ++f) {
    const Halves<V> y = Unpack(tag, spectra.first + f * spectra.stride, k, mirror, t);
    x = {Multiply(x.low, y.low), Multiply(x.high, y.high)};
  }
  const V factor = hn::Set(tag, scale);
  const Complex<V> back = {hn::Mul(factor, t.re), hn::Neg(hn::Mul(factor, t.im))};
  const Complex<V> even = Scale(hn::Mul(hn::Set(tag, T(0.5)), factor), Add(x.low, x.high));
  const Complex<V> odd = Multiply(back, Subtract(x.low, x.high));
  const Complex<V> z = Add(even, odd), c = Subtract(even, odd);
  hn::StoreInterleaved2(hn::Reverse(tag, z.re), hn::Reverse(tag, z.im), tag, product + 2 * mirror);
  hn::StoreInterleaved2(c.re, hn::Neg(c.im), tag, product + 2 * k);
}

template <class T>
HWY_INLINE void MultiplyAllPacked(Spectra<T> spectra, int64_t n, const T* twiddle, T scale,
                                  T* product) {
  MultiplyPacked(hn::CappedTag<T, 1>(), spectra, n, 0, twiddle, scale, product);
  Cover<T>(1, n / 2 + 1, [&](auto tag, int64_t k) HWY_ATTR {
    MultiplyPacked(tag, spectra, n, k, twiddle, scale, product);
  });
}

template <class T>
HWY_INLINE void AddTo(const T* x, int64_t numbers, T* y) {
  const hn::CappedTag<T, 64 / sizeof(T)> tag;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(tag));
  int64_t i = 0;
  for (; i + lanes <= numbers; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(tag, y + i), hn::LoadU(tag, x + i)), tag, y + i);
  for (; i < numbers; ++i) y[i] += x[i];
}

template <class T>
HWY_INLINE void Split(const T* z, int64_t n, T* re, T* im) {
  Cover<T>(0, n, [&](auto tag, int64_t k) HWY_ATTR {
    const auto value = LoadPairs(tag, z + 2 * k);
    hn::StoreU(value.re, tag, re + k);
    hn::StoreU(hn::Neg(value.im), tag, im + k);
  });
}

void MultiplyF32(Spectra<float> spectra, int64_t n, float scale, bool conjugate, float* product) {
  MultiplyAll(spectra, n, scale, conjugate, product);
}
void MultiplyF64(Spectra<double> spectra, int64_t n, double scale, bool conjugate,
                 double* product) {
  MultiplyAll(spectra, n, scale, conjugate, product);
}
void MultiplyPackedF32(Spectra<float> spectra, int64_t n, const float* twiddle, float scale,
                       float* product) {
  MultiplyAllPacked(spectra, n, twiddle, scale, product);
}
void MultiplyPackedF64(Spectra<double> spectra, int64_t n, const double* twiddle, double scale,
                       double* product) {
  MultiplyAllPacked(spectra, n, twiddle, scale, product);
}
void AddF32(const float* x, int64_t numbers, float* y) { AddTo(x, numbers, y); }
void AddF64(const double* x, int64_t numbers, double* y) { AddTo(x, numbers, y); }
void SplitF32(const float* z, int64_t n, float* re, float* im) { Split(z, n, re, im); }
void SplitF64(const double* z, int64_t n, double* re, double* im) { Split(z, n, re, im); }

// ComplexFft has the sign +, so its y_k is Z_{-k} of the transform Z with the sign -; likewise a
// transform of Y_{-k} inverts. The spectra of x1 and x2 are (Z_k + c)/2 and (Z_k - c)/(2i), c =
// conj Z_{-k}; with G and H, the filters' spectra, that of the result is
//  Y_k = G_k (Z_k + c)/2 + H_k (Z_k - c)/2 = A_k Z_k + B_k c,  A = (G + H)/2, B = (G - H)/2.
// A_{-k} = conj A_k, since G and H belong to real vectors, so k and n - k share stored numbers: for
// k <= n/2 the real parts of A, its imaginary parts, and those of B.

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
HWY_INLINE void MultiplyPairs(const T* filters, int64_t n, bool correlate, const T* y, T* product) {
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
void MultiplyPairF32(const float* filters, int64_t n, bool correlate, const float* y,
                     float* product) {
  MultiplyPairs(filters, n, correlate, y, product);
}
void MultiplyPairF64(const double* filters, int64_t n, bool correlate, const double* y,
                     double* product) {
  MultiplyPairs(filters, n, correlate, y, product);
}

MERCER_SIMD_END();

#if HWY_ONCE
namespace mercer::transform {

MERCER_SIMD_EXPORT(Multiply);
MERCER_SIMD_EXPORT(MultiplyPacked);
MERCER_SIMD_EXPORT(Add);
MERCER_SIMD_EXPORT(Split);

void multiply_spectra(Spectra<float> spectra, int64_t n, float scale, bool conjugate,
                      float* product) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF32)(spectra, n, scale, conjugate, product);
}
void multiply_spectra(Spectra<double> spectra, int64_t n, double scale, bool conjugate,
                      double* product) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyF64)(spectra, n, scale, conjugate, product);
}
void multiply_packed_spectra(Spectra<float> spectra, int64_t n, const float* twiddle, float scale,
                             float* product) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyPackedF32)(spectra, n, twiddle, scale, product);
}
void multiply_packed_spectra(Spectra<double> spectra, int64_t n, const double* twiddle,
                             double scale, double* product) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyPackedF64)(spectra, n, twiddle, scale, product);
}
void add_spectrum(const float* x, int64_t numbers, float* y) noexcept {
  HWY_DYNAMIC_DISPATCH(AddF32)(x, numbers, y);
}
void add_spectrum(const double* x, int64_t numbers, double* y) noexcept {
  HWY_DYNAMIC_DISPATCH(AddF64)(x, numbers, y);
}
void split_conjugate(const float* z, int64_t n, float* re, float* im) noexcept {
  HWY_DYNAMIC_DISPATCH(SplitF32)(z, n, re, im);
}
void split_conjugate(const double* z, int64_t n, double* re, double* im) noexcept {
  HWY_DYNAMIC_DISPATCH(SplitF64)(z, n, re, im);
}

MERCER_SIMD_EXPORT(Pack);
MERCER_SIMD_EXPORT(Unpack);
MERCER_SIMD_EXPORT(MultiplyPair);

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
  HWY_DYNAMIC_DISPATCH(MultiplyPairF32)(filters, n, correlate, y, product);
}
void multiply_pair(const double* filters, int64_t n, bool correlate, const double* y,
                   double* product) noexcept {
  HWY_DYNAMIC_DISPATCH(MultiplyPairF64)(filters, n, correlate, y, product);
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
