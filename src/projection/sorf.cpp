// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Structured orthogonal random features: blocks sqrt(d') H D1 H D2 H D3 with H = H_d'/sqrt(d'), D_i
// random signs (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, "Orthogonal random features", NIPS
// 2016). We draw each row's norm from the law instead of fixing it at sqrt(d') (radius = fixed
// keeps theirs), so SORF serves every isotropic distribution. Directions of H D1 H D2 H D3 are
// nearly, not exactly, uniform: the estimate has a small bias that shrinks with d'.
#include "projection/hadamard_projection.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

struct Sorf {
  // 3 sign diagonals of all blocks, D3 first, then the scale s_j / d'^{3/2}: H unnormalised gives
  // every row of the triple product the norm d'^{3/2}.
  static constexpr int64_t kDiagonals = 4;
  static constexpr bool kPermutes = false;

  template <class T>
  static double draw_block(const HadamardGroup& group, int64_t b, HadamardNumbers<T>& numbers) {
    const int64_t n = group.n;
    const AlignedBuffer<double> signs(3 * n);
    random::fill_rademacher(group.stream(random::Tag::sign, b), 0, std::span(signs.data(), 3 * n));
    for (int64_t k = 0; k < 3; ++k) {
      for (int64_t i = 0; i < n; ++i)
        numbers.diagonals[k * group.size() + b * n + i] = static_cast<T>(signs[k * n + i]);
    }
    return static_cast<double>(n) * std::sqrt(static_cast<double>(n));
  }

  template <class T>
  static constexpr int64_t rows_together(int64_t) {
    return 1;
  }

  template <class T>
  static void apply(const T* const* x, int64_t, const HadamardNumbers<T>& numbers, int64_t n,
                    int64_t blocks, T*, T* out) noexcept {
    sorf_blocks(x[0], numbers.diagonals.data(), numbers.diagonals.data() + 3 * n * blocks, n,
                blocks, out);
  }

  template <class T>
  static void apply_transpose(const T* p, const HadamardNumbers<T>& numbers, int64_t n,
                              int64_t blocks, T*, T* out) noexcept {
    sorf_blocks_transpose(p, numbers.diagonals.data(), numbers.diagonals.data() + 3 * n * blocks, n,
                          blocks, out);
  }
};

}  // namespace

const ProjectionEntry kSorf = hadamard_entry<Sorf>(
    "sorf",
    "structured orthogonal blocks H D1 H D2 H D3; F log d per row, d padded to a power of two");

}  // namespace mercer::projection
