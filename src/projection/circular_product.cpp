// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A real vector is packed as a complex one of half the length, even and odd entries as real and
// imaginary parts. Packing two rows together would carry rounding and NaNs of one into the other.
// FFTW's complex transforms are much faster than its real ones, and the pass that separates the
// halves also multiplies.
#include "projection/circular_product.h"

#include "base/size.h"
#include "random/scalar_math.h"
#include "transform/spectrum.h"

namespace mercer::projection {
namespace {

constexpr int64_t kLine = 16;

// -i exp(2 pi i k/m)/2 for k <= m/4, parts apart.
template <class T>
AlignedBuffer<T> packing_twiddles(int64_t m) {
  const int64_t count = m / 4 + 1;
  AlignedBuffer<T> out(2 * count);
  for (int64_t k = 0; k < count; ++k) {
    const random::SinCos angle =
        random::portable_sincos_turns(static_cast<double>(k) / static_cast<double>(m));
    out[k] = static_cast<T>(0.5 * angle.sin);
    out[count + k] = static_cast<T>(-0.5 * angle.cos);
  }
  return out;
}

}  // namespace

template <class T>
CircularProduct<T>::CircularProduct(int64_t m, bool complex) : m_(m), complex_(complex) {
  if (complex) {
    pairs_ = std::make_unique<const transform::ComplexFft<T>>(m);
  } else if (m % 2 == 0) {
    pairs_ = std::make_unique<const transform::ComplexFft<T>>(m / 2);
    twiddle_ = packing_twiddles<T>(m);
  } else {
    real_ = std::make_unique<const transform::RealFft<T>>(m, 1);
  }
}

template <class T>
int64_t CircularProduct<T>::spectrum_size(int64_t m, bool complex) noexcept {
  const int64_t numbers = complex ? 2 * m : m + 1;  // m + 1: the spectrum of an odd real vector
  return round_up(numbers, kLine);
}

template <class T>
void CircularProduct<T>::forward(const T* x, T* spectrum) const noexcept {
  real_ ? real_->forward(x, spectrum) : pairs_->transform(x, spectrum);
}

template <class T>
void CircularProduct<T>::multiply(const T* spectra, int64_t count, T* product) const noexcept {
  const transform::Spectra<T> all = {spectra, count, spectrum_size(m_, complex_)};
  const T share = static_cast<T>(1.0 / static_cast<double>(m_));
  if (real_) {
    transform::multiply_spectra(all, m_ / 2 + 1, share, false, product);
  } else if (complex_) {
    transform::multiply_spectra(all, m_, share, true, product);
  } else {
    transform::multiply_packed_spectra(all, m_ / 2, twiddle_.data(), 2 * share, product);
  }
}

template <class T>
void CircularProduct<T>::inverse(T* product, T* x) const noexcept {
  real_ ? real_->inverse(product, x) : pairs_->transform(product, x);
}

template class CircularProduct<float>;
template class CircularProduct<double>;

}  // namespace mercer::projection
