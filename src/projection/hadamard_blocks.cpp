// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "projection/hadamard_blocks.h"

#include <algorithm>
#include <bit>
#include <span>
#include <type_traits>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/size.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"
#include "random/distributions.h"
#include "random/stream.h"
#include "transform/elements.h"
#include "transform/hadamard.h"
#include "transform/lanes.h"
#include "transform/panel.h"

namespace mercer::projection {
namespace {

using transform::DiagonalKind;

constexpr int64_t kLeastDimension = 16;
constexpr int64_t kMostInputs = int64_t{1} << 28;
constexpr int64_t kColumnsTogether = 1024;

}  // namespace

template <class T>
void sorf_blocks(const T* x, const T* signs, const T* scale, int64_t n, int64_t blocks,
                 T* out) noexcept {
  transform::fwht_chain(x, 0, signs, DiagonalKind::signs, 3, scale, out, n, blocks);
}

template <class T>
void fastfood_blocks(const T* x, const T* signs, const PermutationIndex<T>* permutation,
                     const T* gaussian, const T* scale, int64_t n, int64_t blocks, T* scratch,
                     T* out) noexcept {
  transform::fwht_chain(x, 0, signs, DiagonalKind::signs, 1, nullptr, scratch, n, blocks);
  for (int64_t b = 0; b < blocks; ++b)
    transform::gather(scratch + b * n, permutation + b * n, n, out + b * n);
  transform::fwht_chain(out, n, gaussian, DiagonalKind::any, 1, scale, out, n, blocks);
}

template <class T>
void fastfood_rows(const T* const* x, const T* signs, const PermutationIndex<T>* permutation,
                   const T* gaussian, const T* scale, int64_t n, int64_t blocks, T* scratch,
                   T* out) noexcept {
  constexpr int64_t kRows = transform::kPermutedRows<T>;
  const int64_t size = n * blocks;
  for (int64_t r = 0; r < kRows; ++r) {
    transform::fwht_chain(x[r], 0, signs, DiagonalKind::signs, 1, nullptr, out + r * size, n,
                          blocks);
  }
  transform::interleave_rows(out, size, size, scratch);
  for (int64_t b = 0; b < size; b += n)
    transform::permute_rows(scratch + kRows * b, permutation + b, n, out + b, size);
  for (int64_t r = 0; r < kRows; ++r) {
    transform::fwht_chain(out + r * size, n, gaussian, DiagonalKind::any, 1, scale, out + r * size,
                          n, blocks);
  }
}

#define MERCER_INSTANTIATE(T)                                                                  \
  template void sorf_blocks(const T*, const T*, const T*, int64_t, int64_t, T*) noexcept;      \
  template void fastfood_blocks(const T*, const T*, const PermutationIndex<T>*, const T*,      \
                                const T*, int64_t, int64_t, T*, T*) noexcept;                  \
  template void fastfood_rows(const T* const*, const T*, const PermutationIndex<T>*, const T*, \
                              const T*, int64_t, int64_t, T*, T*) noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

int64_t padded_dimension(int64_t d) {
  require(d <= kMostInputs, MERCER_INVALID_ARGUMENT,
          "inputs = %ld, expected at most %ld for a structured projection", d, kMostInputs);
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max(d, kLeastDimension))));
}

BlockGroups hadamard_groups(int64_t padded, int64_t F) noexcept {
  const int64_t least = std::max<int64_t>(1, transform::kPanelColumns<float> / padded);
  const int64_t most = std::max(least, kColumnsTogether / padded);
  const int64_t needed = (F - 1) / padded + 1;
  return {padded, std::clamp(round_up(needed, least), least, most)};
}

double column_norm(const ProjectionArguments& arguments, int64_t padded, int64_t j) noexcept {
  const random::Law& law = *arguments.law;
  const double norm = arguments.radius == Radius::fixed
                          ? law.fixed_radius(padded)
                          : law.radius(random::Stream(arguments.seed, random::Tag::radius,
                                                      static_cast<uint64_t>(j)),
                                       padded);
  const double lengthscale = arguments.lengthscale.size() == 1 ? arguments.lengthscale[0] : 1.0;
  return norm / lengthscale * factor_of(arguments.unit);
}

template <class T>
void sorf_blocks_transpose(const T* p, const T* signs, const T* scale, int64_t n, int64_t blocks,
                           T* out) noexcept {
  const int64_t size = n * blocks;
  std::copy_n(p, size, out);
  transform::multiply(scale, size, out);
  transform::fwht(out, n, blocks);
  transform::signed_fwht(out, n, signs + 2 * size, out, n, blocks);
  transform::signed_fwht(out, n, signs + size, out, n, blocks);
  transform::multiply(signs, size, out);
}

template <class T>
void fastfood_blocks_transpose(const T* p, const T* signs, const PermutationIndex<T>* permutation,
                               const T* gaussian, const T* scale, int64_t n, int64_t blocks,
                               T* scratch, T* out) noexcept {
  const int64_t size = n * blocks;
  std::copy_n(p, size, scratch);
  transform::multiply(scale, size, scratch);
  transform::fwht(scratch, n, blocks);
  for (int64_t b = 0; b < size; b += n) {
    for (int64_t i = b; i < b + n; ++i) out[b + permutation[i]] = gaussian[i] * scratch[i];
  }
  transform::fwht(out, n, blocks);
  transform::multiply(signs, size, out);
}

template <class T>
void add_block_sums(const T* parts, int64_t n, int64_t blocks, const double* inverse, int64_t d,
                    T* x) noexcept {
  for (int64_t k = 0; k < d; ++k) {
    T sum = parts[k];
    for (int64_t b = 1; b < blocks; ++b) sum += parts[b * n + k];
    x[k] += inverse == nullptr ? sum : static_cast<T>(sum * inverse[k]);
  }
}

#define MERCER_INSTANTIATE(T)                                                                    \
  template void add_block_sums(const T*, int64_t, int64_t, const double*, int64_t, T*) noexcept; \
  template void sorf_blocks_transpose(const T*, const T*, const T*, int64_t, int64_t,            \
                                      T*) noexcept;                                              \
  template void fastfood_blocks_transpose(const T*, const T*, const PermutationIndex<T>*,        \
                                          const T*, const T*, int64_t, int64_t, T*, T*) noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

namespace {

// The base of SORF and Fastfood: groups of blocks, drawn when first used; a row is padded once per
// group and pushed through all of the group's blocks while they are in cache. Kind says what a
// group holds and how it is applied.

// The numbers of a group; Kind says what they are.
template <class T>
struct HadamardNumbers {
  AlignedBuffer<T> diagonals;
  AlignedBuffer<PermutationIndex<T>> permutation;
};

// Blocks of n columns each, one after the other.
struct HadamardGroup {
  const ProjectionArguments& arguments;
  int64_t n;
  int64_t first;  // index of the first block
  int64_t blocks;

  int64_t size() const noexcept { return n * blocks; }
  // The stream of block b of the group.
  random::Stream stream(random::Tag tag, int64_t b) const noexcept {
    return {arguments.seed, tag, static_cast<uint64_t>(first + b)};
  }
};

// Kind: kDiagonals, how many a block has, the last of them the norms of its columns; kPermutes;
// static draw_block<T>(group, b, numbers), which draws the other numbers of block b of the group
// and returns the norm that they give its columns;
// rows_together<T>(n), how many rows apply takes at most; apply(x, count, numbers, n, blocks,
// scratch, out), row r < count at x[r], results and scratch columns of a group for each; and
// apply_transpose(p, numbers, n, blocks, scratch, out), the adjoint with a result for every block.
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
    // So few rows that their P stays in the first-level cache. Scratch holds padded rows, then what
    // Kind needs.
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

// Structured orthogonal random features: blocks sqrt(d') H D1 H D2 H D3 with H = H_d'/sqrt(d'), D_i
// random signs (Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, "Orthogonal random features", NIPS
// 2016). We draw each row's norm from the law instead of fixing it at sqrt(d') (radius = fixed
// keeps theirs), so SORF serves every isotropic distribution. Directions of H D1 H D2 H D3 are
// nearly, not exactly, uniform: the estimate has a small bias that shrinks with d'.
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

// Fastfood: blocks S H G Pi H B with B random signs, Pi a permutation, G a Gaussian diagonal, H
// unnormalised (Le, Sarlos, Smola, "Fastfood: approximating kernel expansions in loglinear time",
// ICML 2013). No paper gives S for other laws than the Gaussian: S_ii = s_i/(||G||_F sqrt(d')) with
// s_i drawn from the law in dimension d' (radius = fixed: sqrt(d')).
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

const ProjectionEntry kSorf = hadamard_entry<Sorf>(
    "sorf",
    "structured orthogonal blocks H D1 H D2 H D3; F log d per row, d padded to a power of two");

const ProjectionEntry kFastfood = hadamard_entry<Fastfood>(
    "fastfood", "blocks S H G Pi H B; F log d per row, d padded to a power of two");

// SRHT (Ailon, Chazelle 2006; Tropp 2011) stacked in independent blocks (Wacker, Kanagawa,
// Filippone 2022, Algorithm 2 for degree 1). A group of blocks is drawn when first used; a row is
// padded once per group and pushed through all its blocks while they are in cache.

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
