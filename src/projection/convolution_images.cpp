// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Complex vectors have one direction of transform: the way back conjugates before and after it.
#include "projection/convolution_images.h"

#include "transform/product.h"
#include "transform/spectrum.h"

namespace mercer::projection {

template <class T>
ConvolutionImages<T>::ConvolutionImages(int64_t m, bool complex) : m_(m) {
  if (complex) {
    complex_ = std::make_unique<const transform::ComplexFft<T>>(m);
  } else {
    real_ = std::make_unique<const transform::RealFft<T>>(m, 1);
  }
}

template <class T>
void ConvolutionImages<T>::image(const T* vector, T* spectrum, T* re, T* im) const noexcept {
  real_ ? real_->forward(vector, spectrum) : complex_->transform(vector, spectrum);
  for (int64_t k = 0; k < elements(m_, complex_ != nullptr); ++k) {
    re[k] = spectrum[2 * k];
    im[k] = spectrum[2 * k + 1];
  }
}

template <class T>
void ConvolutionImages<T>::back(Planes<const T> images, Planes<T> Z, T* vector,
                                T* spectrum) const noexcept {
  for (int64_t i = 0; i < Z.re.rows; ++i) {
    transform::interleave(images.re.row(i), images.im.row(i), images.re.cols, spectrum);
    if (real_) {
      real_->inverse(spectrum, vector);
      put_row(vector, m_, Z.re.row(i), Z.around_caches);
      continue;
    }
    for (int64_t k = 0; k < m_; ++k) spectrum[2 * k + 1] = -spectrum[2 * k + 1];
    complex_->transform(spectrum, vector);
    transform::split_conjugate(vector, m_, Z.re.row(i), Z.im.row(i));
  }
}

template <class T>
void ConvolutionImages<T>::back_adjoint(Planes<const T> Z, Planes<T> images, T* vector,
                                        T* spectrum) const noexcept {
  for (int64_t i = 0; i < Z.re.rows; ++i) {
    if (real_) {
      put_row(Z.re.row(i), m_, vector, false);
    } else {
      transform::interleave(Z.re.row(i), Z.im.row(i), m_, vector);
    }
    image(vector, spectrum, images.re.row(i), images.im.row(i));
  }
}

template class ConvolutionImages<float>;
template class ConvolutionImages<double>;

}  // namespace mercer::projection
