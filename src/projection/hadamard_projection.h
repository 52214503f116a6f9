// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The base of SORF and Fastfood: groups of blocks, drawn when first used; a row is padded once per
// group and pushed through all of the group's blocks while they are in cache. Kind says what a
// group holds and how it is applied.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "projection/hadamard_transpose.h"
#include "projection/lazy_groups.h"
#include "projection/projections.h"
#include "projection/typed_projection.h"
#include "transform/dense_panel.h"

namespace mercer::projection {

/// The numbers of a group; Kind says what they are.
template <class T>
struct HadamardNumbers {
  AlignedBuffer<T> diagonals;
  AlignedBuffer<PermutationIndex<T>> permutation;
};

/// Blocks of n columns each, one after the other.
struct HadamardGroup {
  const ProjectionArguments& arguments;
  int64_t n;
  int64_t first;  // index of the first block
  int64_t blocks;

  int64_t size() const noexcept { return n * blocks; }
  /// The stream of block b of the group.
  random::Stream stream(random::Tag tag, int64_t b) const noexcept {
    return {arguments.seed, tag, static_cast<uint64_t>(first + b)};
  }
};

/// Kind: kDiagonals, how many a block has, the last of them the norms of its columns; kPermutes;
/// static draw_block<T>(group, b, numbers), which draws the other numbers of block b of the group
/// and returns the norm that they give its columns;
/// rows_together<T>(n), how many rows apply takes at most; apply(x, count, numbers, n, blocks,
/// scratch, out), row r < count at x[r], results and scratch columns of a group for each; and
/// apply_transpose(p, numbers, n, blocks, scratch, out), the adjoint with a result for every block.
template <class Kind>
class HadamardProjection final : public TypedProjection<HadamardProjection<Kind>> {
  using Base = TypedProjection<HadamardProjection<Kind>>;
  friend Base;

 public:
  explicit HadamardProjection(const ProjectionArguments& arguments)
      : Base(arguments.d, arguments.F),
        arguments_(arguments),
        blocks_(hadamard_groups(padded_dimension(arguments.d), arguments.F)),
        groups_(blocks_.count(arguments.F)) {
    if (arguments.lengthscale.size() > 1) inverse_lengthscale_ = arguments.lengthscale;
    for (double& value : inverse_lengthscale_) value = 1 / value;
  }

 private:
  static constexpr int64_t kMostTogether = 4;

  template <class T>
  using Groups = LazyGroups<HadamardNumbers<T>>;

  int64_t columns() const noexcept { return blocks_.columns(); }

  template <class T>
  BlockShape shape_of() const noexcept {
    // P of a few rows in the first-level cache; scratch: padded rows, then what Kind needs.
    const int64_t together = Kind::template rows_together<T>(blocks_.n);
    const int64_t rows = std::clamp<int64_t>(
        16 * 1024 / (columns() * static_cast<int64_t>(sizeof(T))), together, transform::kTileRows);
    return {columns(), rows, together * (blocks_.n + columns()), 2 * columns()};
  }

  template <class T>
  void prepare_blocks(Blocks groups, Context& context) const {
    // At most four numbers a column are kept; three are drawn in double for one block.
    constexpr const char* kWhat = "a group of structured blocks";
    const GroupCost cost{checked_multiply(columns(), 4 * sizeof(T), kWhat),
                         checked_multiply(blocks_.n, 3 * sizeof(double), kWhat), kWhat};
    groups_.template of<T>().prepare_all(groups, cost, context, [&](int64_t group) {
      return draw<T>(
          HadamardGroup{arguments_, blocks_.n, group * blocks_.together, blocks_.together});
    });
  }

  template <class T>
  static HadamardNumbers<T> draw(const HadamardGroup& group) {
    const int64_t n = group.n, size = group.size();
    HadamardNumbers<T> numbers{AlignedBuffer<T>(Kind::kDiagonals * size),
                               AlignedBuffer<PermutationIndex<T>>(Kind::kPermutes ? size : 0)};
    T* const norms = numbers.diagonals.data() + (Kind::kDiagonals - 1) * size;
    for (int64_t b = 0; b < group.blocks; ++b) {
      const double norm = Kind::template draw_block<T>(group, b, numbers);
      for (int64_t j = b * n; j < (b + 1) * n; ++j) {
        norms[j] = static_cast<T>(column_norm(group.arguments, n, group.first * n + j) / norm);
      }
    }
    return numbers;
  }

  template <class T>
  void project_rows(MatrixView<const T> X, int64_t group, T* P, T* scratch) const noexcept {
    const HadamardNumbers<T>& numbers = groups_.template of<T>()[group];
    const bool as_is = X.cols == blocks_.n && inverse_lengthscale_.empty();
    const int64_t together = Kind::template rows_together<T>(blocks_.n);
    for (int64_t i = 0; i < X.rows; i += together) {
      const int64_t count = std::min(together, X.rows - i);
      const T* x[kMostTogether];
      for (int64_t r = 0; r < count; ++r) {
        T* const padded = scratch + r * blocks_.n;
        if (!as_is) load_row(X.row(i + r), padded);
        x[r] = as_is ? X.row(i + r) : padded;
      }
      Kind::apply(x, count, numbers, blocks_.n, blocks_.together, scratch + together * blocks_.n,
                  P + i * columns());
    }
  }

  template <class T>
  void add_rows(const T* G, int64_t group, MatrixView<T> X, T* scratch) const noexcept {
    const HadamardNumbers<T>& numbers = groups_.template of<T>()[group];
    const double* const inverse =
        inverse_lengthscale_.empty() ? nullptr : inverse_lengthscale_.data();
    T* const parts = scratch + columns();
    for (int64_t i = 0; i < X.rows; ++i) {
      Kind::apply_transpose(G + i * columns(), numbers, blocks_.n, blocks_.together, scratch,
                            parts);
      add_block_sums(parts, blocks_.n, blocks_.together, inverse, X.cols, X.row(i));
    }
  }

  template <class T>
  void load_row(const T* x, T* to) const noexcept {
    std::fill(to + this->inputs(), to + blocks_.n, T{0});
    if (inverse_lengthscale_.empty()) {
      std::copy(x, x + this->inputs(), to);
      return;
    }
    for (int64_t k = 0; k < this->inputs(); ++k) {
      to[k] = static_cast<T>(x[k] * inverse_lengthscale_[k]);
    }
  }

  ProjectionArguments arguments_;
  BlockGroups blocks_;                       // of padded inputs
  std::vector<double> inverse_lengthscale_;  // ARD only
  mutable PerPrecision<Groups> groups_;
};

template <class Kind>
std::unique_ptr<Projection> make_hadamard(const ProjectionArguments& arguments) {
  return std::make_unique<HadamardProjection<Kind>>(arguments);
}

template <class Kind>
constexpr ProjectionEntry hadamard_entry(const char* name, const char* help) {
  return {
      .name = name,
      .help = help,
      .need = LawNeed::isotropic,
      .uses_radius = true,
      .block = padded_dimension,
      .maker = make_hadamard<Kind>,
  };
}

}  // namespace mercer::projection
