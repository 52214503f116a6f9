// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fastfood: blocks S H G Pi H B with B random signs, Pi a permutation, G a Gaussian diagonal, H
// unnormalised (Le, Sarlos, Smola, "Fastfood: approximating kernel expansions in loglinear time",
// ICML 2013). No paper gives S for other laws than the Gaussian: S_ii = s_i/(||G||_F sqrt(d')) with
// s_i drawn from the law in dimension d' (radius = fixed: sqrt(d')).
#include "projection/hadamard_projection.h"
#include "random/distributions.h"
#include "transform/row_permutation.h"

namespace mercer::projection {
namespace {

struct Fastfood {
  // Diagonals B, G, S of all blocks, one after the other, and the permutations.
  static constexpr int64_t kDiagonals = 3;
  static constexpr bool kPermutes = true;

  template <class T>
  static double draw_block(const HadamardGroup& group, int64_t b, HadamardNumbers<T>& numbers) {
    const int64_t n = group.n;
    const auto count = static_cast<size_t>(n);
    const AlignedBuffer<double> signs(n), gaussian(n);
    const AlignedBuffer<int64_t> permutation(n);
    random::fill_rademacher(group.stream(random::Tag::sign, b), 0, {signs.data(), count});
    random::fill_normal(group.stream(random::Tag::gaussian, b), 0, {gaussian.data(), count});
    random::Cursor cursor(group.stream(random::Tag::permutation, b));
    random::permutation(cursor, {permutation.data(), count});
    double squares = 0;
    for (int64_t i = 0; i < n; ++i) squares += gaussian[i] * gaussian[i];
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = b * n + i;
      numbers.diagonals[at] = static_cast<T>(signs[i]);
      numbers.diagonals[group.size() + at] = static_cast<T>(gaussian[i]);
      numbers.permutation[at] = static_cast<PermutationIndex<T>>(permutation[i]);
    }
    return std::sqrt(squares * static_cast<double>(n));
  }

  // Several rows of larger blocks would not fit the second-level cache.
  template <class T>
  static constexpr int64_t rows_together(int64_t n) {
    return n <= (int64_t{1} << 14) ? transform::kPermutedRows<T> : 1;
  }

  template <class T>
  static void apply(const T* const* x, int64_t count, const HadamardNumbers<T>& numbers, int64_t n,
                    int64_t blocks, T* scratch, T* out) noexcept {
    const int64_t size = n * blocks;
    const T* const signs = numbers.diagonals.data();
    const auto* const permutation = numbers.permutation.data();
    if (count == transform::kPermutedRows<T>) {
      return fastfood_rows(x, signs, permutation, signs + size, signs + 2 * size, n, blocks,
                           scratch, out);
    }
    for (int64_t r = 0; r < count; ++r) {
      fastfood_blocks(x[r], signs, permutation, signs + size, signs + 2 * size, n, blocks, scratch,
                      out + r * size);
    }
  }

  template <class T>
  static void apply_transpose(const T* p, const HadamardNumbers<T>& numbers, int64_t n,
                              int64_t blocks, T* scratch, T* out) noexcept {
    const int64_t size = n * blocks;
    const T* diagonals = numbers.diagonals.data();
    fastfood_blocks_transpose(p, diagonals, numbers.permutation.data(), diagonals + size,
                              diagonals + 2 * size, n, blocks, scratch, out);
  }
};

}  // namespace

const ProjectionEntry kFastfood = hadamard_entry<Fastfood>(
    "fastfood", "blocks S H G Pi H B; F log d per row, d padded to a power of two");

}  // namespace mercer::projection
