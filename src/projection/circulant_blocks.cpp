// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Signed circulant blocks by Fourier transforms, two blocks of a row at a time as one complex
// vector.
#include <algorithm>

#include "projection/circulant.h"

namespace mercer::projection {

template <class T>
AlignedBuffer<T> circulant_filters(const CirculantFft<double>& fft,
                                   const AlignedBuffer<double>& g) {
  const int64_t n = fft.length();
  const AlignedBuffer<double> z(2 * n * fft.pairs()), spectra(2 * n * fft.pairs());
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    for (int64_t k = 0; k < n; ++k) {
      z[2 * (n * p + k)] = g[2 * p * n + k];
      z[2 * (n * p + k) + 1] = g[fft.second(p) * n + k];
    }
  }
  fft.transform(z.data(), spectra.data());
  AlignedBuffer<T> filters(transform::pair_filter_size(n) * fft.pairs());
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    transform::make_pair_filters(spectra.data() + 2 * n * p, n, 1.0 / static_cast<double>(n),
                                 filters.data() + transform::pair_filter_size(n) * p);
  }
  return filters;
}

namespace {

// Convolves or correlates z, the padded inputs of all pairs, into y; z is overwritten.
template <class T>
void convolve(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers, bool correlate, T* z,
              T* y) noexcept {
  const int64_t n = fft.length();
  fft.transform(z, y);
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    transform::multiply_pair(numbers.filters.data() + transform::pair_filter_size(n) * p, n,
                             correlate, y + 2 * n * p, z + 2 * n * p);
  }
  fft.transform(z, y);
}

}  // namespace

template <class T>
void circulant_blocks(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers, const T* x,
                      int64_t d, T* scratch, T* out) noexcept {
  const int64_t n = fft.length();
  T* const z = scratch;
  T* const y = scratch + 2 * n * fft.pairs();
  const T* const m = numbers.multipliers.data();
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    transform::pack_pair(m + 2 * p * d, x, m + fft.second(p) * d, x, d, z + 2 * n * p);
    std::fill(z + 2 * (n * p + d), z + 2 * n * (p + 1), T{0});
  }
  convolve(fft, numbers, false, z, y);
  const T* const scale = numbers.scale.data();
  for (int64_t p = 0; p < fft.pairs(); ++p) {
    T* const first = out + 2 * p * n;
    transform::unpack_pair(y + 2 * n * p, scale + 2 * p * n, scale + fft.second(p) * n, n, first,
                           fft.is_whole(p) ? first + n : z);
  }
}

template <class T>
void circulant_blocks_transpose(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers,
                                const T* p, int64_t d, T* scratch, T* x) noexcept {
  const int64_t n = fft.length();
  T* const z = scratch;
  T* const y = scratch + 2 * n * fft.pairs();
  const T* const scale = numbers.scale.data();
  for (int64_t i = 0; i < fft.pairs(); ++i) {
    const int64_t first = 2 * i * n, second = fft.second(i) * n;
    transform::pack_pair(scale + first, p + first, scale + second, p + second, n, z + 2 * n * i);
  }
  convolve(fft, numbers, true, z, y);
  for (int64_t b = 0; b < fft.count(); ++b) {
    const T* const multipliers = numbers.multipliers.data() + b * d;
    const T* const part = y + 2 * n * (b / 2) + b % 2;
    for (int64_t k = 0; k < d; ++k) x[k] += multipliers[k] * part[2 * k];
  }
}

template AlignedBuffer<float> circulant_filters(const CirculantFft<double>&,
                                                const AlignedBuffer<double>&);
template AlignedBuffer<double> circulant_filters(const CirculantFft<double>&,
                                                 const AlignedBuffer<double>&);
template void circulant_blocks(const CirculantFft<float>&, const CirculantNumbers<float>&,
                               const float*, int64_t, float*, float*) noexcept;
template void circulant_blocks(const CirculantFft<double>&, const CirculantNumbers<double>&,
                               const double*, int64_t, double*, double*) noexcept;
template void circulant_blocks_transpose(const CirculantFft<float>&, const CirculantNumbers<float>&,
                                         const float*, int64_t, float*, float*) noexcept;
template void circulant_blocks_transpose(const CirculantFft<double>&,
                                         const CirculantNumbers<double>&, const double*, int64_t,
                                         double*, double*) noexcept;

}  // namespace mercer::projection
