// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fourier transforms of vectors of m numbers, so that circular convolution is a product element by
// element. Real and imaginary parts are apart; of a real vector half the transform is kept, which
// determines the rest. CircularProduct is faster, but packs vectors so that its products are not
// element by element.
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
  /// Numbers in a spectrum, rounded up to whole cache lines.
  static int64_t spectrum_size(int64_t m, bool complex) noexcept {
    return (2 * elements(m, complex) + 15) / 16 * 16;
  }

  void image(const T* vector, T* spectrum, T* re, T* im) const noexcept;
  /// Z = m times the vectors of these images.
  void back(Planes<const T> images, Planes<T> Z, T* vector, T* spectrum) const noexcept;
  /// images = those of vectors Z with parts apart: the adjoint of back, where elements that stand
  /// for two count twice. In the same way back is the adjoint of image.
  void back_adjoint(Planes<const T> Z, Planes<T> images, T* vector, T* spectrum) const noexcept;

 private:
  int64_t m_;
  std::unique_ptr<const transform::RealFft<T>> real_;
  std::unique_ptr<const transform::ComplexFft<T>> complex_;  // one of the two is set
};

}  // namespace mercer::projection
