// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Circular convolution of several vectors of m real or complex numbers, in the Fourier domain. A
// product of spectra is linear in each of them, so products may be added before the inverse
// transform.
#pragma once

#include <cstdint>
#include <memory>

#include "base/aligned.h"
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
  /// x whose spectrum is `product`, to scale; as complex numbers conj x. Destroys the product.
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

}  // namespace mercer::projection
