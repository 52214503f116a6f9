// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Vectors of m numbers as what circular convolution multiplies element by element: their Fourier
// transforms, real and imaginary parts apart, of real vectors the half that tells the other. Beside
// CircularProduct, whose products of packed vectors are no longer elements.
#pragma once

#include <cstdint>
#include <memory>

#include "projection/multilinear.h"
#include "transform/fft.h"

namespace mercer::projection {

/// Immutable plans. Complex vectors are interleaved; a vector and a spectrum are 64-byte aligned
/// scratch.
template <class T>
class ConvolutionImages {
 public:
  /// Errors: INVALID_ARGUMENT (m beyond 2^31 - 1); OUT_OF_MEMORY.
  ConvolutionImages(int64_t m, bool complex);

  static int64_t elements(int64_t m, bool complex) noexcept { return complex ? m : m / 2 + 1; }
  /// Numbers of a spectrum, to whole cache lines.
  static int64_t spectrum_size(int64_t m, bool complex) noexcept {
    return (2 * elements(m, complex) + 15) / 16 * 16;
  }

  void image(const T* vector, T* spectrum, T* re, T* im) const noexcept;
  /// m times the vectors whose images these are.
  void back(Planes<const T> images, Planes<T> Z, T* vector, T* spectrum) const noexcept;
  /// image of such vectors, real and imaginary parts apart: the adjoint of back, as back is that of
  /// image, where elements that stand for two count twice.
  void back_adjoint(Planes<const T> Z, Planes<T> images, T* vector, T* spectrum) const noexcept;

 private:
  int64_t m_;
  std::unique_ptr<const transform::RealFft<T>> real_;
  std::unique_ptr<const transform::ComplexFft<T>> complex_;  // the one that is there
};

}  // namespace mercer::projection
