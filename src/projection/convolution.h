// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Circular convolution of several vectors of m real or complex numbers, in the Fourier domain. A
// product of spectra is linear in each of them, so products may be added before the inverse
// transform.
#pragma once

#include <cstdint>
#include <memory>

#include "base/aligned.h"
#include "projection/multilinear.h"
#include "transform/fft.h"

namespace mercer::projection {

/// Immutable plans. Arrays are 64-byte aligned and do not overlap; complex numbers are interleaved.
template <class T>
class CircularProduct {
 public:
  /// Errors: INVALID_ARGUMENT (m beyond 2^31 - 1); OUT_OF_MEMORY.
  CircularProduct(int64_t m, bool complex);

  /// Numbers in a spectrum, rounded up so that arrays of them keep their alignment.
  static int64_t spectrum_size(int64_t m, bool complex) noexcept;

  void forward(const T* x, T* spectrum) const noexcept;
  /// The product of `count` spectra, spectrum_size apart.
  void multiply(const T* spectra, int64_t count, T* product) const noexcept;
  /// The vector x whose spectrum is `product`, up to a constant factor; of complex numbers the
  /// conjugates. Destroys the product.
  void inverse(T* product, T* x) const noexcept;

 private:
  int64_t m_;
  bool complex_;
  // Real vectors of even length are transformed as m/2 complex numbers, those of odd length as they
  // are.
  std::unique_ptr<const transform::ComplexFft<T>> pairs_;
  std::unique_ptr<const transform::RealFft<T>> real_;
  AlignedBuffer<T> twiddle_;
};

// Fourier transforms of vectors of m numbers, so that circular convolution is a product element by
// element. Real and imaginary parts are apart; of a real vector half the transform is kept, which
// determines the rest. CircularProduct is faster, but packs vectors so that its products are not
// element by element.

/// Immutable plans. Complex vectors are interleaved; a vector and a spectrum are 64-byte aligned
/// scratch.
template <class T>
class ConvolutionImages {
 public:
  /// Errors: INVALID_ARGUMENT (m beyond 2^31 - 1); OUT_OF_MEMORY.
  ConvolutionImages(int64_t m, bool complex);

  static int64_t elements(int64_t m, bool complex) noexcept { return complex ? m : m / 2 + 1; }
  /// Numbers in a spectrum, rounded up to whole cache lines.
  static int64_t spectrum_size(int64_t m, bool complex) noexcept {
    return (2 * elements(m, complex) + 15) / 16 * 16;
  }

  void image(const T* vector, T* spectrum, T* re, T* im) const noexcept;
  /// Z = m times the vectors whose images these are.
  void back(Planes<const T> images, Planes<T> Z, T* vector, T* spectrum) const noexcept;
  /// Sets images to those of the vectors Z, whose real and imaginary parts are apart: the adjoint
  /// of back, in which an element that stands for two counts twice. In the same way back is the
  /// adjoint of image.
  void back_adjoint(Planes<const T> Z, Planes<T> images, T* vector, T* spectrum) const noexcept;

 private:
  int64_t m_;
  std::unique_ptr<const transform::RealFft<T>> real_;
  std::unique_ptr<const transform::ComplexFft<T>> complex_;  // one of the two is set
};

// Circular convolution of vectors that are mostly zeros, each a list of terms: products of
// polynomials mod x^m - 1, at the cost of their terms.

/// A real term is value * x^slot, slot < m; a complex one value * i^(slot mod 2) * x^(slot / 2),
/// slot < 2m. Slots may repeat.
template <class T>
struct Terms {
  uint32_t* slots;
  T* values;
  int64_t count = 0;
};

/// out = a b; the a.count * b.count terms do not overlap the factors.
template <class T>
void multiply_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, bool complex,
                    Terms<T>& out) noexcept;

/// Adds the coefficients of a b to re and im, m each (real terms: im is null).
template <class T>
void add_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, T* re, T* im) noexcept;

}  // namespace mercer::projection
