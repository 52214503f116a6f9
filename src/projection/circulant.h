// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Signed circulant blocks with all ingredients given: the product itself, apart from how its
// numbers are drawn.
#pragma once

#include <cstdint>

#include "base/aligned.h"
#include "projection/hadamard_blocks.h"
#include "projection/projections.h"
#include "transform/fft.h"

namespace mercer::projection {

/// `count` blocks of n columns each, one after another in every array.
template <class T>
struct CirculantNumbers {
  AlignedBuffer<T> multipliers;  // d per block: what input k is multiplied by (sign, lengthscale)
  AlignedBuffer<T> spectra;      // of each g, over n
  AlignedBuffer<T> scale;        // one per column, or empty: 1 each
};

/// The spectra of g (fft.count() vectors of fft.length() numbers), over n: rounded once, to T.
template <class T>
AlignedBuffer<T> circulant_spectra(const transform::RealFft<double>& fft,
                                   const AlignedBuffer<double>& g);

/// out_{b,i} = scale_{b,i} sum_{k<d} g_b[(i - k) mod n] multipliers_{b,k} x_k, d <= n =
/// fft.length(), b < fft.count(). The bits depend on x alone. `scratch` holds circulant_scratch
/// numbers; both it and out are 64-byte aligned.
template <class T>
void circulant_blocks(const transform::RealFft<T>& fft, const CirculantNumbers<T>& numbers,
                      const T* x, int64_t d, T* scratch, T* out) noexcept;

/// The adjoint: x_k += sum_b multipliers_{b,k} sum_i g_b[(i - k) mod n] scale_{b,i} p_{b,i}, by the
/// conjugate spectra. p and scratch, circulant_scratch numbers, are 64-byte aligned.
template <class T>
void circulant_blocks_transpose(const transform::RealFft<T>& fft,
                                const CirculantNumbers<T>& numbers, const T* p, int64_t d,
                                T* scratch, T* x) noexcept;

/// The entry, whether or not this build can make one.
constexpr ProjectionEntry circulant_entry(
    std::unique_ptr<Projection> (*maker)(const ProjectionArguments&)) {
  return {
      .name = "circulant",
      .help = "signed circulant blocks by FFT; F log d per row, d padded to a power of two",
      .need = LawNeed::isotropic_or_product,
      .product_columns_correlate = true,
      .block = padded_dimension,
      .maker = maker,
  };
}

/// Padded inputs, then their spectra.
inline int64_t circulant_scratch(int64_t n, int64_t count) {
  return n * count + 2 * (n / 2 + 1) * count;
}

}  // namespace mercer::projection
