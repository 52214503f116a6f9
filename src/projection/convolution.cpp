// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A real vector is packed as a complex one of half the length, even and odd entries as real and
// imaginary parts. Packing two rows together would carry rounding and NaNs of one into the other.
// FFTW's complex transforms are much faster than its real ones, and the pass that separates the
// halves also multiplies.
#include "projection/convolution.h"

#include "base/size.h"
#include "random/scalar_math.h"
#include "transform/elements.h"
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

// Calls put(slot, value) for every term of a b. Sums of slots are taken mod `period` without
// overflow; periods are even where slots carry a power of i in their lowest bit. Values that depend
// on bits of a slot are looked up: branches would be mispredicted half of the time.
template <bool kComplex, class T, class Put>
void for_each_product(const Terms<T>& a, const Terms<T>& b, uint32_t period, Put put) noexcept {
  for (int64_t q = 0; q < b.count; ++q) {
    const uint32_t turn = kComplex ? b.slots[q] & 1 : 0;
    const uint32_t shift = b.slots[q] - turn, wrap = period - shift;
    const T value[] = {b.values[q], turn != 0 ? -b.values[q] : b.values[q]};  // i * i = -1
    for (int64_t p = 0; p < a.count; ++p) {
      const uint32_t slot = a.slots[p];
      const uint32_t sum = slot - wrap + (period & -static_cast<uint32_t>(slot < wrap));
      put(sum ^ turn, a.values[p] * value[kComplex ? slot & 1 : 0]);
    }
  }
}

template <bool kComplex, class T>
void multiply(const Terms<T>& a, const Terms<T>& b, uint32_t period, Terms<T>& out) noexcept {
  int64_t count = 0;
  for_each_product<kComplex>(a, b, period, [&](uint32_t slot, T value) {
    out.slots[count] = slot;
    out.values[count++] = value;
  });
  out.count = count;
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

// Complex vectors have one direction of transform: the way back conjugates before and after it.

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

template <class T>
void multiply_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, bool complex,
                    Terms<T>& out) noexcept {
  if (complex) {
    multiply<true>(a, b, static_cast<uint32_t>(2 * m), out);
  } else {
    multiply<false>(a, b, static_cast<uint32_t>(m), out);
  }
}

template <class T>
void add_terms(const Terms<T>& a, const Terms<T>& b, int64_t m, T* re, T* im) noexcept {
  if (im != nullptr) {
    T* const planes[] = {re, im};
    for_each_product<true>(a, b, static_cast<uint32_t>(2 * m),
                           [&](uint32_t slot, T value) { planes[slot & 1][slot >> 1] += value; });
  } else {
    for_each_product<false>(a, b, static_cast<uint32_t>(m),
                            [=](uint32_t slot, T value) { re[slot] += value; });
  }
}

template void multiply_terms(const Terms<float>&, const Terms<float>&, int64_t, bool,
                             Terms<float>&) noexcept;
template void multiply_terms(const Terms<double>&, const Terms<double>&, int64_t, bool,
                             Terms<double>&) noexcept;
template void add_terms(const Terms<float>&, const Terms<float>&, int64_t, float*, float*) noexcept;
template void add_terms(const Terms<double>&, const Terms<double>&, int64_t, double*,
                        double*) noexcept;

}  // namespace mercer::projection
