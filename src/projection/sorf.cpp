// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Structured orthogonal random features: blocks sqrt(d') H D1 H D2 H D3 with H = H_d'/sqrt(d'), D_i
// random signs (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, "Orthogonal random features", NIPS
// 2016). We draw each row's norm from the law instead of fixing it at sqrt(d')
// (radius = fixed keeps theirs), so every isotropic law has a SORF. Directions of H D1 H D2 H D3
// are nearly, not exactly, uniform: the estimate has a small bias that shrinks with d'.
#include "projection/hadamard_projection.h"
#include "random/distributions.h"

namespace mercer::projection {
namespace {

struct Sorf {
  // 3 sign diagonals of all blocks, D3 first, then the scale s_j / d'^{3/2}: H unnormalised gives
  // every row of the triple product the norm d'^{3/2}.
  template <class T>
  static HadamardNumbers<T> draw(const HadamardGroup& group) {
    const auto& [arguments, n, first, blocks] = group;
    const int64_t size = group.size();
    HadamardNumbers<T> numbers{AlignedBuffer<T>(4 * size), {}};
    const AlignedBuffer<double> signs(3 * n);
    const double row_norm = static_cast<double>(n) * std::sqrt(static_cast<double>(n));
    for (int64_t b = 0; b < blocks; ++b) {
      random::fill_rademacher(
          random::Stream(arguments.seed, random::Tag::sign, static_cast<uint64_t>(first + b)), 0,
          std::span(signs.data(), static_cast<size_t>(3 * n)));
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < 3; ++k) {
          numbers.diagonals[k * size + b * n + i] = static_cast<T>(signs[k * n + i]);
        }
        numbers.diagonals[3 * size + b * n + i] =
            static_cast<T>(column_norm(arguments, n, (first + b) * n + i) / row_norm);
      }
    }
    return numbers;
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
    "sorf", 2,
    "structured orthogonal blocks H D1 H D2 H D3; F log d per row, d padded to a power of two");

}  // namespace mercer::projection
