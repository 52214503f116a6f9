// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// SRHT (Ailon, Chazelle 2006; Tropp 2011) stacked in independent blocks (Wacker, Kanagawa,
// Filippone 2022, Algorithm 2 for degree 1). A group of blocks is drawn when first used; a row is
// padded once per group and pushed through all its blocks while they are in cache.
#include "projection/srht.h"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "projection/hadamard_blocks.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "transform/elements.h"
#include "transform/hadamard.h"
#include "transform/panel.h"

namespace mercer::projection {
namespace {

constexpr int64_t kMostPadded = int64_t{1} << 28;

template <class T>
struct Ingredients {
  AlignedBuffer<T> signs;
  AlignedBuffer<int32_t> index;
};

template <class T>
Ingredients<T> draw(uint64_t seed, int64_t n, int64_t first_block, int64_t blocks) {
  Ingredients<T> drawn{AlignedBuffer<T>(n * blocks), AlignedBuffer<int32_t>(n * blocks)};
  std::vector<double> signs(n);
  std::vector<int64_t> order(n);
  for (int64_t b = 0; b < blocks; ++b) {
    const auto number = static_cast<uint64_t>(first_block + b);
    random::fill_rademacher(random::Stream(seed, random::Tag::sign, number), 0, signs);
    random::Cursor cursor(random::Stream(seed, random::Tag::permutation, number));
    random::permutation(cursor, order);
    for (int64_t i = 0; i < n; ++i) {
      drawn.signs[b * n + i] = static_cast<T>(signs[i]);
      drawn.index[b * n + i] = static_cast<int32_t>(order[i]);
    }
  }
  return drawn;
}

class Srht final : public TypedSparseProjection<Srht> {
  friend class TypedProjection<Srht>;
  friend class TypedSparseProjection<Srht>;

 public:
  Srht(int64_t d, int64_t D, uint64_t seed)
      : TypedSparseProjection(d, D),
        seed_(seed),
        blocks_(hadamard_groups(srht_dimension(d), D)),
        groups_(blocks_.count(D)) {}

 private:
  template <class T>
  using Groups = LazyGroups<Ingredients<T>>;

  int64_t columns() const noexcept { return blocks_.columns(); }

  // Rows whose P fits the first-level cache; scratch: a padded row, then its transforms.
  template <class T>
  BlockShape shape_of() const noexcept {
    const int64_t rows = 16 * 1024 / (columns() * static_cast<int64_t>(sizeof(T)));
    return {columns(), std::clamp<int64_t>(rows, 1, transform::kTileRows),
            padded_stride() + columns(), columns()};
  }
  // Rounded up, so that the transforms start at a cache line.
  int64_t padded_stride() const noexcept { return (blocks_.n + 15) / 16 * 16; }

  template <class T>
  void prepare_blocks(Blocks groups, Context& context) const {
    constexpr const char* kWhat = "a group of SRHT blocks";
    const GroupCost cost{checked_multiply(columns(), sizeof(T) + sizeof(int32_t), kWhat),
                         checked_multiply(blocks_.n, sizeof(double) + sizeof(int64_t), kWhat),
                         kWhat};
    groups_.of<T>().prepare_all(groups, cost, context, [&](int64_t group) {
      return draw<T>(seed_, blocks_.n, group * blocks_.together, blocks_.together);
    });
  }

  template <class Rows, class T>
  void project_rows(const Rows& X, int64_t group, T* P, T* scratch) const noexcept {
    const Ingredients<T>& drawn = groups_.of<T>()[group];
    std::fill(scratch, scratch + blocks_.n, T{0});
    for (int64_t i = 0; i < X.rows; ++i) {
      load(X, i, scratch);
      srht_blocks(scratch, drawn.signs.data(), drawn.index.data(), blocks_.n, blocks_.together,
                  scratch + padded_stride(), P + i * columns());
      unload(X, i, scratch);
    }
  }

  template <class T>
  void add_rows(const T* G, int64_t group, MatrixView<T> X, T* scratch) const noexcept {
    const Ingredients<T>& drawn = groups_.of<T>()[group];
    for (int64_t i = 0; i < X.rows; ++i) {
      srht_blocks_transpose(G + i * columns(), drawn.signs.data(), drawn.index.data(), blocks_.n,
                            blocks_.together, scratch);
      add_block_sums(scratch, blocks_.n, blocks_.together, nullptr, inputs(), X.row(i));
    }
  }

  template <class T>
  static void load(MatrixView<const T> X, int64_t i, T* x) noexcept {
    std::copy(X.row(i), X.row(i) + X.cols, x);
  }
  template <class T>
  static void unload(MatrixView<const T>, int64_t, T*) noexcept {}
  template <class T>
  static void load(const CsrView<T>& X, int64_t i, T* x) noexcept {
    add_row(X, i, x);
  }
  template <class T>
  static void unload(const CsrView<T>& X, int64_t i, T* x) noexcept {
    clear_row(X, i, x);
  }

  uint64_t seed_;
  BlockGroups blocks_;  // of padded inputs
  mutable PerPrecision<Groups> groups_;
};

}  // namespace

int64_t srht_dimension(int64_t d) {
  require(d <= kMostPadded, MERCER_INVALID_ARGUMENT,
          "inputs = %ld, expected at most %ld for projection = srht", d, kMostPadded);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(d)));
}

template <class T>
void srht_blocks(const T* x, const T* signs, const int32_t* index, int64_t n, int64_t blocks,
                 T* scratch, T* out) noexcept {
  transform::signed_fwht(x, 0, signs, scratch, n, blocks);
  for (int64_t b = 0; b < blocks; ++b) {
    const T* transformed = scratch + b * n;
    for (int64_t i = b * n; i < (b + 1) * n; ++i) out[i] = transformed[index[i]];
  }
}

template <class T>
void srht_blocks_transpose(const T* p, const T* signs, const int32_t* index, int64_t n,
                           int64_t blocks, T* out) noexcept {
  for (int64_t b = 0; b < n * blocks; b += n) {
    for (int64_t i = b; i < b + n; ++i) out[b + index[i]] = p[i];
  }
  transform::fwht(out, n, blocks);
  transform::multiply(signs, n * blocks, out);
}

template void srht_blocks_transpose(const float*, const float*, const int32_t*, int64_t, int64_t,
                                    float*) noexcept;
template void srht_blocks_transpose(const double*, const double*, const int32_t*, int64_t, int64_t,
                                    double*) noexcept;
template void srht_blocks(const float*, const float*, const int32_t*, int64_t, int64_t, float*,
                          float*) noexcept;
template void srht_blocks(const double*, const double*, const int32_t*, int64_t, int64_t, double*,
                          double*) noexcept;

std::unique_ptr<Projection> make_srht(int64_t d, int64_t D, uint64_t seed) {
  return std::make_unique<Srht>(d, D, seed);
}

}  // namespace mercer::projection
