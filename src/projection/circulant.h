// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products with signed circulant blocks whose numbers are given.
#pragma once

#include <cstdint>

#include "base/aligned.h"
#include "projection/hadamard_blocks.h"
#include "projection/projection.h"
#include "transform/fft.h"
#include "transform/spectrum.h"

namespace mercer::projection {

/// Fourier transforms of `count` blocks of n columns, two blocks of a row as one complex vector:
/// FFTW's complex transforms are three times faster than its real ones. A last block without a
/// partner is paired with itself.
template <class T>
class CirculantFft {
 public:
  CirculantFft(int64_t n, int64_t count)
      : count_(count), fft_(n, n <= kTogether ? (count + 1) / 2 : 1) {}
  int64_t length() const noexcept { return fft_.length(); }
  int64_t count() const noexcept { return count_; }
  int64_t pairs() const noexcept { return (count_ + 1) / 2; }
  /// The second block of pair p.
  int64_t second(int64_t p) const noexcept { return 2 * p + 1 < count_ ? 2 * p + 1 : 2 * p; }
  bool is_whole(int64_t p) const noexcept { return 2 * p + 1 < count_; }

  /// Transforms all pairs.
  void transform(const T* x, T* y) const noexcept {
    const int64_t together = fft_.count();
    for (int64_t p = 0; p < pairs(); p += together)
      fft_.transform(x + 2 * length() * p, y + 2 * length() * p);
  }

 private:
  static constexpr int64_t kTogether = 32;  // batches gain up to here and lose from 64 on
  int64_t count_;
  transform::ComplexFft<T> fft_;
};

/// `count` blocks of n columns each, one after another in every array.
template <class T>
struct CirculantNumbers {
  AlignedBuffer<T> multipliers;  // d per block: what input k is multiplied by (sign, lengthscale)
  AlignedBuffer<T> filters;      // of each pair: transform::make_pair_filters, over n
  AlignedBuffer<T> scale;        // one per column
};

/// The filters of g (fft.count() vectors of fft.length() numbers), over n: rounded once, to T. The
/// error bound of a single block holds if |g|_2 is of one size in both blocks of a pair.
template <class T>
AlignedBuffer<T> circulant_filters(const CirculantFft<double>& fft, const AlignedBuffer<double>& g);

/// out_{b,i} = scale_{b,i} sum_{k<d} g_b[(i - k) mod n] multipliers_{b,k} x_k, d <= n =
/// fft.length(), b < fft.count(). The bits depend on x alone. `scratch` holds circulant_scratch
/// numbers; both it and out are 64-byte aligned.
template <class T>
void circulant_blocks(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers, const T* x,
                      int64_t d, T* scratch, T* out) noexcept;

/// The adjoint: x_k += sum_b multipliers_{b,k} sum_i g_b[(i - k) mod n] scale_{b,i} p_{b,i}, by
/// correlation. p and scratch, circulant_scratch numbers, are 64-byte aligned.
template <class T>
void circulant_blocks_transpose(const CirculantFft<T>& fft, const CirculantNumbers<T>& numbers,
                                const T* p, int64_t d, T* scratch, T* x) noexcept;

/// The table's entry, with or without FFTW.
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

/// Room for two copies of the pairs: padded inputs, and their transforms.
inline int64_t circulant_scratch(int64_t n, int64_t count) { return 4 * n * ((count + 1) / 2); }

}  // namespace mercer::projection
