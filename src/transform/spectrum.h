// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of several spectra: the step between the transforms of a circular convolution.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// `count` >= 1 vectors of numbers, `stride` apart.
template <class T>
struct Spectra {
  const T* first;
  int64_t count;
  int64_t stride;
};

/// product_k = scale prod_i spectrum_{i,k} for n interleaved complex numbers, or its conjugate; no
/// overlap.
void multiply_spectra(Spectra<float> spectra, int64_t n, float scale, bool conjugate,
                      float* product) noexcept;
void multiply_spectra(Spectra<double> spectra, int64_t n, double scale, bool conjugate,
                      double* product) noexcept;

/// As above for real vectors x of 2n numbers, each given as ComplexFft::transform of the n complex
/// numbers x_{2j} + i x_{2j+1}. The product is mirrored, n - k for k, so that another transform
/// inverts. `twiddle`: n/2 + 1 real parts of -i exp(pi i k/n)/2, then their imaginary parts. No
/// overlap.
void multiply_packed_spectra(Spectra<float> spectra, int64_t n, const float* twiddle, float scale,
                             float* product) noexcept;
void multiply_packed_spectra(Spectra<double> spectra, int64_t n, const double* twiddle,
                             double scale, double* product) noexcept;

/// y_k += x_k.
void add_spectrum(const float* x, int64_t numbers, float* y) noexcept;
void add_spectrum(const double* x, int64_t numbers, double* y) noexcept;

/// re_k - i im_k = z_k for n interleaved complex numbers; no overlap.
void split_conjugate(const float* z, int64_t n, float* re, float* im) noexcept;
void split_conjugate(const double* z, int64_t n, double* re, double* im) noexcept;

// Two real vectors as one complex vector, so that one complex transform convolves both, each with
// its own filter: the steps between the transforms.

/// z_k = a_k x_k + i b_k y_k for k < count, interleaved. No overlap with z.
void pack_pair(const float* a, const float* x, const float* b, const float* y, int64_t count,
               float* z) noexcept;
void pack_pair(const double* a, const double* x, const double* b, const double* y, int64_t count,
               double* z) noexcept;

/// The inverse of packing: x_k = a_k Re z_k, y_k = b_k Im z_k. No overlap.
void unpack_pair(const float* z, const float* a, const float* b, int64_t count, float* x,
                 float* y) noexcept;
void unpack_pair(const double* z, const double* a, const double* b, int64_t count, double* x,
                 double* y) noexcept;

/// Numbers in the stored filters of a pair.
constexpr int64_t pair_filter_size(int64_t n) { return 4 * (n / 2 + 1); }

/// Filters g and h times `share`, from y = ComplexFft::transform of the n numbers g_k + i h_k.
template <class T>
void make_pair_filters(const double* y, int64_t n, double share, T* filters) noexcept;

/// product_k from y = ComplexFft::transform of x1 + i x2, such that another transform gives n/share
/// times the circular convolutions (g * x1) + i (h * x2), or the correlations, which are the
/// adjoint. No overlap.
void multiply_pair(const float* filters, int64_t n, bool correlate, const float* y,
                   float* product) noexcept;
void multiply_pair(const double* filters, int64_t n, bool correlate, const double* y,
                   double* product) noexcept;

}  // namespace mercer::transform
