// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sine and cosine are computed once for a row and a frequency, and stay in cache while every block
// of the result takes its copy: what remains is to write the result, past the caches if it is
// large. Where rows are rewritten or scaled first, every row has its own numbers for the terms of
// the product rule.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/error.h"
#include "base/size.h"
#include "base/views.h"
#include "feature/derivatives.h"
#include "feature/projected_map.h"
#include "feature/tiles.h"
#include "projection/projection.h"
#include "transform/epilogue.h"
#include "transform/panel.h"
#include "transform/row_prologue.h"
#include "transform/stream_copy.h"

namespace mercer::feature {
namespace {

// Derivatives of features of a projection as sums of terms: a number of the row, times a monomial
// of the frequency, times the feature or its slope.

// A sum of monomials omega^q; |q| is even in all or odd in all.
using MonomialSum = std::vector<MultiIndex>;

// The factor c(k, p, q, x_k) of a row (transform/row_prologue.h).
struct RowFactor {
  int64_t input;
  int64_t p;
  int64_t q;
};

// The product over `factors` of the row (1 if there are none) times monomial sum number
// `monomials`.
struct DerivativeTerm {
  std::vector<RowFactor> factors;
  int64_t monomials;
};

// Block b of the derivative is the sum of terms first[b], ..., first[b + 1] - 1.
struct DerivativeTerms {
  std::vector<MonomialSum> monomials;  // each once
  std::vector<DerivativeTerm> terms;
  std::vector<int64_t> first;

  int64_t blocks() const noexcept { return std::ssize(first) - 1; }
  int64_t count() const noexcept { return std::ssize(terms); }
  // Whether the monomials multiply the slope: those of odd order do.
  bool takes_slope(int64_t monomial) const noexcept {
    return total_order(monomials[monomial][0]) % 2 != 0;
  }
};

// The number of row x for each term.
template <class T>
void term_factors(const DerivativeTerms& terms, const transform::RowDerivative* rows, const T* x,
                  T* out) noexcept {
  for (size_t t = 0; t < terms.terms.size(); ++t) {
    double product = 1;
    for (const RowFactor& one : terms.terms[t].factors)
      product *= rows->coefficient(one.input, one.p, one.q, static_cast<double>(x[one.input]));
    out[t] = static_cast<T>(product);
  }
}

// The product rule over inputs: a term for every q with least(p_k) <= q_k <= p_k. Monomials that
// several blocks share, as the blocks of a gradient share the value, are kept once.
constexpr int64_t kMostTermsOfPartial = 4096;  // most terms of a multi-index

class Expansion {
 public:
  Expansion(int64_t d, const transform::RowDerivative* rows) : d_(d), rows_(rows) {
    made_.first.push_back(0);
  }

  void add(const MultiIndex& p) {
    check(p);
    MultiIndex q(p);
    std::vector<RowFactor> factors;
    add_terms(p, 0, q, factors);
  }
  /// The Laplacian sum_k d^2/dx_k^2 of functions of omega'x: one monomial sum.
  void add_plain_laplacian() {
    MonomialSum squares;
    for (int64_t k = 0; k < d_; ++k) squares.push_back({{k, 2}});
    made_.terms.push_back({{}, std::ssize(made_.monomials)});
    made_.monomials.push_back(std::move(squares));
  }
  void end_block() { made_.first.push_back(std::ssize(made_.terms)); }
  DerivativeTerms take() { return std::move(made_); }

 private:
  int64_t least(int64_t p) const noexcept { return rows_ == nullptr ? p : rows_->least(p); }

  void check(const MultiIndex& p) const {
    int64_t count = 1;
    for (const PartialFactor& one : p) {
      count *= one.order - least(one.order) + 1;
      require(count <= kMostTermsOfPartial, MERCER_UNSUPPORTED,
              "a derivative of order %ld has more than %ld terms by the product rule, expected "
              "lower orders or fewer inputs in one multi-index",
              total_order(p), kMostTermsOfPartial);
    }
  }

  // Entries of q before `at` are fixed.
  void add_terms(const MultiIndex& p, size_t at, MultiIndex& q, std::vector<RowFactor>& factors) {
    if (at == p.size()) {
      made_.terms.push_back({factors, number_of(q)});
      return;
    }
    const PartialFactor& one = p[at];
    for (int64_t order = one.order; order >= least(one.order); --order) {
      q[at].order = order;
      if (rows_ != nullptr) factors.push_back({one.input, one.order, order});
      add_terms(p, at + 1, q, factors);
      if (rows_ != nullptr) factors.pop_back();
    }
  }

  int64_t number_of(const MultiIndex& q) {
    std::vector<std::pair<int64_t, int64_t>> key;
    for (const PartialFactor& one : q)
      if (one.order > 0) key.emplace_back(one.input, one.order);
    const auto [place, is_new] = numbers_.try_emplace(key, std::ssize(made_.monomials));
    if (is_new) {
      MultiIndex monomial;
      for (const auto& [input, order] : key) monomial.push_back({input, order});
      made_.monomials.push_back({std::move(monomial)});
    }
    return place->second;
  }

  int64_t d_;
  const transform::RowDerivative* rows_;
  DerivativeTerms made_;
  std::map<std::vector<std::pair<int64_t, int64_t>>, int64_t> numbers_;
};

// The terms for a map of d inputs; rows null: features of omega'x itself. UNSUPPORTED: a
// multi-index of more than 4,096 terms.
DerivativeTerms expand(const Derivative& what, int64_t d, const transform::RowDerivative* rows) {
  Expansion made(d, rows);
  if (what.kind == Derivative::Kind::laplacian && rows == nullptr) {
    made.add_plain_laplacian();
    made.end_block();
    return made.take();
  }
  for (const std::vector<MultiIndex>& block : partials_of(what, d)) {
    for (const MultiIndex& p : block) made.add(p);
    made.end_block();
  }
  return made.take();
}

// Factors that turn features and their slopes into derivatives: monomials of the frequencies, one
// row for each monomial sum of a derivative's terms.

// A feature f of the angle u = omega'x has f'' = s f, s = -1, 0 or 1, so that
//   d^q f = omega^q f^(|q|)(u), f^(n) = s^(n/2) f for even n, s^((n-1)/2) f' for odd ones
// (of Fourier features: Szabo, Sriperumbudur 2019, eq. 14). Frequencies are the projection's
// transpose of unit vectors, so every projection serves.
constexpr const char* kWeightsOfDerivatives = "weights of derivatives";

double power(double base, int64_t exponent) noexcept {
  double product = 1;
  for (int64_t k = 0; k < exponent; ++k) product *= base;
  return product;
}

// The factor of f^(order) over f or f'.
double sign_of(int64_t order, double second) noexcept { return power(second, order / 2); }

// Works in blocks of columns, with the frequencies of some columns at a time.
template <class T>
class WeightTiles final : public TileWork {
 public:
  WeightTiles(const projection::Projection& projection, const transform::EpilogueGradient& gradient,
              int reals, const std::vector<MonomialSum>& monomials, MatrixView<T> table)
      : projection_(projection),
        angle_(gradient.angle()),
        second_(gradient.second()),
        reals_(reals),
        monomials_(monomials),
        table_(table),
        shape_(projection.shape(T{})),
        units_(round_up(shape_.rows * shape_.columns)),
        frequencies_(
            round_up(checked_multiply(shape_.rows, projection.inputs(), kWeightsOfDerivatives))) {}

  void prepare(Context& context) const override { projection_.prepare(blocks(), T{}, context); }

  TileCut cut() const override {
    const int64_t own = round_up(shape_.transpose_scratch);
    const int64_t numbers = checked_add(checked_add(units_, frequencies_, kWeightsOfDerivatives),
                                        own, kWeightsOfDerivatives);
    return {1, 1, blocks(), 1, checked_multiply(numbers, sizeof(T), kWeightsOfDerivatives)};
  }

  void run(const Tile& tile) const noexcept override {
    T* const units = reinterpret_cast<T*>(tile.scratch);
    T* const omega = units + units_;
    T* const own = omega + frequencies_;
    const int64_t block = tile.blocks.begin, first = block * shape_.columns,
                  d = projection_.inputs();
    const int64_t count = std::min(shape_.columns, projection_.outputs() - first);
    std::fill_n(units, units_, T{0});
    for (int64_t j0 = 0; j0 < count; j0 += shape_.rows) {
      const int64_t some = std::min(shape_.rows, count - j0);
      const MatrixView<T> W(omega, some, d);
      std::fill_n(omega, some * d, T{0});
      for (int64_t j = 0; j < some; ++j) units[j * shape_.columns + j0 + j] = T{1};
      projection_.project_transpose(units, block, W, own);
      for (int64_t j = 0; j < some; ++j) units[j * shape_.columns + j0 + j] = T{0};
      for (int64_t j = 0; j < some; ++j) put(first + j0 + j, W.row(j));
    }
    clear(first + count, first + shape_.columns);
  }

 private:
  projection::Blocks blocks() const noexcept {
    return {0, (projection_.outputs() - 1) / shape_.columns + 1};
  }

  // Writes all rows of the table for frequency j, in turns or plain.
  void put(int64_t j, const T* omega) const noexcept {
    for (int64_t b = 0; b < table_.rows; ++b) {
      // Limited, since infinity times exp(-omega'x), which is 0 long before, would be NaN.
      constexpr double kMost = std::numeric_limits<T>::max();
      const T value = static_cast<T>(std::clamp(weight(b, omega), -kMost, kMost));
      for (int64_t real = 0; real < reals_; ++real) table_(b, j * reals_ + real) = value;
    }
  }

  double weight(int64_t b, const T* omega) const noexcept {
    double sum = 0;
    for (const MultiIndex& q : monomials_[b]) {
      double product = sign_of(total_order(q), second_);
      for (const PartialFactor& factor : q)
        product *= power(angle_ * static_cast<double>(omega[factor.input]), factor.order);
      sum += product;
    }
    return sum;
  }

  void clear(int64_t begin, int64_t end) const noexcept {
    for (int64_t b = 0; b < table_.rows; ++b)
      std::fill(table_.row(b) + begin * reals_, table_.row(b) + end * reals_, T{0});
  }

  const projection::Projection& projection_;
  double angle_;
  double second_;
  int64_t reals_;
  const std::vector<MonomialSum>& monomials_;
  MatrixView<T> table_;
  projection::BlockShape shape_;
  int64_t units_;        // numbers of some rows of unit cotangents
  int64_t frequencies_;  // and of the frequencies that they give
};

// Row m: monomials[m] of every frequency, times the factor of f^(|q|) over f or f', repeated for
// each number of a part of a row of features and padded to whole blocks. `reals`: numbers of a
// feature. Memory is charged to the context. Cost: the projection's transpose of one unit vector
// for each column, as much as d rows of a dense projection of d = shape.columns inputs, F columns
// each.
template <class T>
Matrix<T> frequency_weights(const projection::Projection& projection,
                            const transform::EpilogueGradient& gradient, int reals,
                            const std::vector<MonomialSum>& monomials, Context& context) {
  const int64_t width = projection.shape(T{}).columns;
  const int64_t blocks = (projection.outputs() - 1) / width + 1;
  const int64_t numbers = checked_multiply(checked_multiply(blocks, width, kWeightsOfDerivatives),
                                           reals, kWeightsOfDerivatives);
  Matrix<T> table(std::ssize(monomials), numbers, context, kWeightsOfDerivatives);
  run_tiles(WeightTiles<T>(projection, gradient, reals, monomials, table.view()), context);
  return table;
}

// Scratch of one thread to differentiate a few rows of a projected map.
template <class T>
struct DerivativeScratch {
  T* P;          // a block, of the rows of a step
  T* value;      // features of the rows of a step, part by part
  T* slope;      // the same
  T* along;      // a direction's P for each number of a part
  T* weights;    // of one row along a direction, then ones
  T* direction;  // as it is projected, of the rows of a step
  T* factors;    // of one row's terms
  T* numbers;    // for the epilogue, of the rows of a tile
  T* rows;       // of a tile, rewritten
  T* own;        // the projection's
  transform::ScaledTerm<T>* terms;
};

// Numbers of each.
struct DerivativeSizes {
  int64_t P;
  int64_t features;
  int64_t along;
  int64_t weights;
  int64_t direction;
  int64_t terms;
  int64_t numbers;
  int64_t rows;
  int64_t own;
};

template <class T>
class DerivativeScratchPlan {
 public:
  explicit DerivativeScratchPlan(const DerivativeSizes& sizes) {
    const int64_t parts[] = {sizes.P,       sizes.features,  sizes.features, sizes.along,
                             sizes.weights, sizes.direction, sizes.terms,    sizes.numbers,
                             sizes.rows,    sizes.own};
    static_assert(std::size(parts) == kParts);
    for (size_t part = 0; part < kParts; ++part) add(part, parts[part]);
    constexpr auto kWords = static_cast<int64_t>(sizeof(transform::ScaledTerm<T>) / sizeof(T));
    add(kParts, checked_multiply(sizes.terms, kWords, kWhat));
  }

  int64_t bytes() const { return checked_multiply(numbers_, sizeof(T), kWhat); }
  // The parts in that many bytes; all are 64-byte aligned.
  DerivativeScratch<T> at(std::byte* scratch) const noexcept {
    T* const first = reinterpret_cast<T*>(scratch);
    const auto part = [&](size_t which) { return first + offsets_[which]; };
    return {part(0),
            part(1),
            part(2),
            part(3),
            part(4),
            part(5),
            part(6),
            part(7),
            part(8),
            part(9),
            reinterpret_cast<transform::ScaledTerm<T>*>(part(kParts))};
  }

 private:
  static constexpr const char* kWhat = "tiles of derivatives";
  static constexpr size_t kParts = 10;

  void add(size_t part, int64_t count) {
    offsets_[part] = numbers_;
    numbers_ = checked_add(numbers_, checked_add(count, 15, kWhat) / 16 * 16, kWhat);
  }

  int64_t offsets_[kParts + 1] = {};
  int64_t numbers_ = 0;
};

using projection::Blocks;

constexpr const char* kDerivativeTiles = "tiles of derivatives";
constexpr int64_t kProjectedRows = 32;
// Rows whose features and slopes are held together, and columns of each: 256 KB.
constexpr int64_t kStepRows = 8;
constexpr int64_t kStepBytes = int64_t{32} << 10;

// d F along v, for functions F of one row: the terms' numbers of the row, and the direction that is
// projected, c(k, 1, 1, x_k) v_k.
const DerivativeTerms& along_direction(bool scales) {
  static const DerivativeTerms kSlope{{{{{0, 1}}}}, {{{}, 0}}, {0, 1}};
  static const DerivativeTerms kBoth{{{{{0, 1}}}, {{}}}, {{{}, 0}, {{}, 1}}, {0, 2}};
  return scales ? kBoth : kSlope;
}

template <class T>
class DerivativeTiles final : public TileWork {
 public:
  /// Weights are those of `table`, a row for each monomial sum, or, along V, each row's own.
  DerivativeTiles(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                  MatrixView<const T> X, MatrixView<const T> V, MatrixView<const T> table,
                  const DerivativeTerms& terms, MatrixView<T> out)
      : projection_(*parts.projections[0]),
        of_rows_(parts.of_rows(0)),
        gradient_(*parts.epilogue->gradient()),
        columns_(columns),
        rows_(row_derivative(parts)),
        tile_rows_(parts.prologue.get(), X, kProjectedRows),
        parts_(parts.epilogue->shape().parts),
        reals_(parts.epilogue->shape().reals),
        numbers_(parts.epilogue->shape().row_numbers),
        shape_(projection_.shape(T{})),
        blocks_{0, (projection_.outputs() - 1) / shape_.columns + 1},
        X_(X),
        V_(V),
        table_(table),
        terms_(terms),
        out_(out),
        step_rows_(std::min(shape_.rows, kStepRows)),
        together_(std::clamp<int64_t>(
            kStepBytes / (2 * parts_ * block_numbers() * static_cast<int64_t>(sizeof(T))), 1,
            blocks_.end)),
        scratch_(sizes()) {
    for (int64_t m = 0; m < std::ssize(terms.monomials); ++m)
      (terms.takes_slope(m) ? needs_slope_ : needs_value_) = true;
  }

  void prepare(Context& context) const override {
    projection_.prepare(blocks_, T{}, context);
    of_rows_.prepare(blocks_, T{}, context);
    columns_.prepare(blocks_, context);
  }

  TileCut cut() const override {
    return {X_.rows, kProjectedRows, blocks_, together_, scratch_.bytes()};
  }

  void begin(std::byte* scratch) const noexcept override {
    const Scratch own = scratch_.at(scratch);
    for (int64_t t = 0; t < terms_.count(); ++t) {
      const int64_t m = terms_.terms[t].monomials;
      // Along V: weights of a row, then ones.
      const T* const weights = along() ? own.weights + m * part_numbers() : table_.row(m);
      own.terms[t] = {weights, terms_.takes_slope(m)};
    }
    std::fill_n(own.factors, terms_.count(), T{1});
    if (along() && terms_.count() > 1)
      std::fill_n(own.weights + part_numbers(), part_numbers(), T{1});
  }

  void run(const Tile& tile) const noexcept override {
    const Scratch scratch = scratch_.at(tile.scratch);
    const MatrixView<const T> X = tile_rows_.rows(tile.i0, tile.i1, scratch.rows, scratch.numbers);
    for (int64_t i = tile.i0; i < tile.i1; i += step_rows_)
      step(tile, X, i, std::min(i + step_rows_, tile.i1), scratch);
    if (streams()) transform::finish_streaming();
  }

 private:
  using Scratch = DerivativeScratch<T>;

  bool along() const noexcept { return V_.data != nullptr; }
  int64_t block_numbers() const noexcept { return shape_.columns * reals_; }
  int64_t part_numbers() const noexcept { return together_ * block_numbers(); }
  bool streams() const noexcept { return goes_around_caches(out_); }

  DerivativeSizes sizes() const {
    const int64_t along_rows = along() ? step_rows_ : 0;
    return {
        .P = step_rows_ * shape_.columns,
        .features = step_rows_ * parts_ * part_numbers(),
        .along = along_rows * part_numbers(),
        .weights = along() ? 2 * part_numbers() : 0,
        .direction = rows_ == nullptr ? 0 : checked_multiply(along_rows, X_.cols, kDerivativeTiles),
        .terms = terms_.count(),
        .numbers = kProjectedRows * numbers_,
        .rows = tile_rows_.scratch(),
        .own = shape_.scratch};
  }

  // X: the rows of the tile as they are projected.
  void step(const Tile& tile, MatrixView<const T> X, int64_t i0, int64_t i1,
            const Scratch& scratch) const noexcept {
    const int64_t first = i0 - tile.i0, last = i1 - tile.i0;
    const MatrixView<const T> V = along() ? directions(i0, i1, scratch) : MatrixView<const T>{};
    for (int64_t block = tile.blocks.begin; block < tile.blocks.end; ++block) {
      const int64_t into = (block - tile.blocks.begin) * block_numbers();
      if (along()) {
        projection_.project(V, block, scratch.P, scratch.own);
        keep_weights(i1 - i0, into, scratch);
      }
      of_rows_.project(X.block_rows(first, last), block, scratch.P, scratch.own);
      for (int64_t i = 0; i < i1 - i0; ++i) {
        const int64_t offset = i * parts_ * part_numbers() + into;
        gradient_.slopes({scratch.P + i * shape_.columns, columns_.scale(block),
                          columns_.phase(block), needs_value_ ? scratch.value + offset : nullptr,
                          needs_slope_ ? scratch.slope + offset : nullptr, part_numbers(),
                          shape_.columns, scratch.numbers + (first + i) * numbers_});
      }
    }
    for (int64_t i = i0; i < i1; ++i) put_row(tile.blocks, i, i - i0, scratch);
  }

  // Computes row i's numbers for the terms.
  void make_factors(int64_t i, const Scratch& scratch) const noexcept {
    if (rows_ == nullptr) return;
    if (!along()) return term_factors(terms_, rows_, X_.row(i), scratch.factors);
    if (terms_.count() > 1) scratch.factors[1] = static_cast<T>(scale_along(i));
  }
  double scale_along(int64_t i) const noexcept {
    double sum = 0;
    for (int64_t k = 0; k < X_.cols; ++k)
      sum += static_cast<double>(V_(i, k)) *
             rows_->coefficient(k, 1, 0, static_cast<double>(X_(i, k)));
    return sum;
  }

  MatrixView<const T> directions(int64_t i0, int64_t i1, const Scratch& scratch) const noexcept {
    if (rows_ == nullptr) return V_.block_rows(i0, i1);
    const MatrixView<T> V(scratch.direction, i1 - i0, X_.cols);
    for (int64_t i = i0; i < i1; ++i)
      for (int64_t k = 0; k < X_.cols; ++k)
        V(i - i0, k) = static_cast<T>(rows_->coefficient(k, 1, 1, static_cast<double>(X_(i, k))) *
                                      static_cast<double>(V_(i, k)));
    return V;
  }

  // P = VW in the unit of the slopes, once for each number of a feature.
  void keep_weights(int64_t rows, int64_t into, const Scratch& scratch) const noexcept {
    const T angle = static_cast<T>(gradient_.angle());
    for (int64_t i = 0; i < rows; ++i) {
      T* const to = scratch.along + i * part_numbers() + into;
      const T* const P = scratch.P + i * shape_.columns;
      for (int64_t j = 0; j < block_numbers(); ++j) to[j] = angle * P[j / reals_];
    }
  }

  void put_row(Blocks blocks, int64_t i, int64_t within, const Scratch& scratch) const noexcept {
    const int64_t F = projection_.outputs(), first = blocks.begin * shape_.columns;
    const int64_t count = std::min(F, blocks.end * shape_.columns) - first;
    make_factors(i, scratch);
    if (along())
      std::copy_n(scratch.along + within * part_numbers(), part_numbers(), scratch.weights);
    for (int64_t part = 0; part < parts_; ++part) {
      const int64_t offset = (within * parts_ + part) * part_numbers();
      transform::ScaledSums<T> call{};
      call.value = scratch.value + offset;
      call.slope = scratch.slope + offset;
      call.terms = scratch.terms;
      call.offset = along() ? 0 : first * reals_;
      call.factors = scratch.factors;
      call.first = terms_.first.data();
      call.count = count * reals_;
      call.copies = terms_.blocks();
      call.to = out_.row(i) + (part * F + first) * reals_;
      call.to_step = parts_ * F * reals_;
      call.stream = streams();
      transform::scaled_sums(call);
    }
  }

  const projection::Projection& projection_;
  const projection::Projection& of_rows_;
  const transform::EpilogueGradient& gradient_;
  const ColumnNumbers<T>& columns_;
  const transform::RowDerivative* rows_;  // null: features of omega'x itself
  DenseTileRows<T> tile_rows_;
  int64_t parts_;
  int64_t reals_;
  int64_t numbers_;  // of a row for the epilogue
  projection::BlockShape shape_;
  Blocks blocks_;
  MatrixView<const T> X_;
  MatrixView<const T> V_;  // none: no data
  MatrixView<const T> table_;
  const DerivativeTerms& terms_;
  MatrixView<T> out_;
  bool needs_slope_ = false;
  bool needs_value_ = false;
  int64_t step_rows_;
  int64_t together_;  // blocks of columns that a tile takes
  DerivativeScratchPlan<T> scratch_;
};

// A tile is some rows times all blocks, since every block adds to the same rows of the result. P is
// computed again, which costs little beside the rest, so that nothing has to be kept.
using projection::Blocks;

template <class T>
class GradientTiles final : public TileWork {
 public:
  GradientTiles(const ProjectedParts& parts, const ColumnNumbers<T>& columns, MatrixView<const T> X,
                MatrixView<const T> G, MatrixView<T> out)
      : projection_(*parts.projections[0]),
        of_rows_(parts.of_rows(0)),
        gradient_(*parts.epilogue->gradient()),
        columns_(columns),
        derivative_(row_derivative(parts)),
        numbers_(parts.epilogue->shape().row_numbers),
        parts_(gradient_.gradient_parts()),
        complex_(parts.epilogue->shape().reals == 2),
        shape_(projection_.shape(T{})),
        most_rows_(std::min(shape_.rows, transform::kTileRows)),
        rows_(parts.prologue.get(), X, most_rows_),
        blocks_{0, (projection_.outputs() - 1) / shape_.columns + 1},
        X_(X),
        G_(G),
        out_(out),
        part_(round_up(shape_.rows * shape_.columns)) {}

  void prepare(Context& context) const override {
    projection_.prepare(blocks_, T{}, context);
    of_rows_.prepare(blocks_, T{}, context);
    columns_.prepare(blocks_, context);
  }

  TileCut cut() const override {
    const int64_t own = round_up(std::max(shape_.scratch, shape_.transpose_scratch));
    const int64_t tile = checked_multiply(part_, 1 + parts_, "a tile");
    const int64_t rows = checked_add(round_up(rows_.scratch()), row_numbers(), "a tile");
    return {X_.rows, most_rows_, blocks_, blocks_.end - blocks_.begin,
            checked_multiply(checked_add(checked_add(tile, own, "a tile"), rows, "a tile"),
                             sizeof(T), "a tile")};
  }

  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    T* const G = P + part_;
    T* const numbers = G + part_ * parts_;
    T* const rewritten = numbers + row_numbers();
    T* const own = rewritten + round_up(rows_.scratch());
    double sums[transform::kTileRows] = {};
    const MatrixView<const T> X = rows_.rows(tile.i0, tile.i1, rewritten, numbers);
    const MatrixView<T> out = out_.block_rows(tile.i0, tile.i1);
    for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, T{0});
    for (int64_t block = tile.blocks.begin; block < tile.blocks.end; ++block) {
      load(block, tile, G);
      of_rows_.project(X, block, P, own);
      gradient_.pull_back({P, G, columns_.scale(block), columns_.phase(block), G, X.rows,
                           shape_.columns, part_, numbers_ > 0 ? numbers : nullptr,
                           numbers_ > 0 ? sums : nullptr});
      projection_.project_transpose(G, block, out, own);
    }
    if (derivative_ == nullptr) return;
    for (int64_t i = 0; i < out.rows; ++i) finish_row(X_.row(tile.i0 + i), sums[i], out.row(i));
  }

 private:
  // Row numbers of a tile for the epilogue.
  int64_t row_numbers() const noexcept { return round_up(most_rows_ * numbers_); }

  // From derivatives in the projected row to those in x: multiplied by the prologue's slope, plus
  // `sum`, the features' products with G, times the slope of the features' factor.
  void finish_row(const T* x, double sum, T* out) const noexcept {
    const bool scales = derivative_->least(1) == 0;
    for (int64_t k = 0; k < out_.cols; ++k) {
      const auto at = static_cast<double>(x[k]);
      double slope = derivative_->coefficient(k, 1, 1, at) * static_cast<double>(out[k]);
      if (scales) slope += derivative_->coefficient(k, 1, 0, at) * sum;
      out[k] = static_cast<T>(slope);
    }
  }

  // G of a block, part by part without gaps, zero past the last column.
  void load(int64_t block, const Tile& tile, T* to) const noexcept {
    const int64_t first = block * shape_.columns;
    const int64_t count = std::min(shape_.columns, projection_.outputs() - first);
    for (int64_t part = 0; part < parts_; ++part) {
      for (int64_t i = tile.i0; i < tile.i1; ++i) {
        T* const row = to + part * part_ + (i - tile.i0) * shape_.columns;
        if (complex_) {
          for (int64_t j = 0; j < count; ++j) row[j] = G_(i, 2 * (first + j) + part);
        } else {
          std::copy_n(G_.row(i) + part * projection_.outputs() + first, count, row);
        }
        std::fill(row + count, row + shape_.columns, T{0});
      }
    }
  }

  const projection::Projection& projection_;
  const projection::Projection& of_rows_;
  const transform::EpilogueGradient& gradient_;
  const ColumnNumbers<T>& columns_;
  const transform::RowDerivative* derivative_;  // null: rows are projected as they are
  int64_t numbers_;                             // of a row for the epilogue
  int64_t parts_;                               // of G, for a projected column
  bool complex_;                                // G holds them interleaved
  projection::BlockShape shape_;
  int64_t most_rows_;  // of a tile
  DenseTileRows<T> rows_;
  Blocks blocks_;
  MatrixView<const T> X_;
  MatrixView<const T> G_;
  MatrixView<T> out_;
  int64_t part_;  // numbers of a part of a block
};

}  // namespace

const transform::RowDerivative* row_derivative(const ProjectedParts& parts) noexcept {
  return parts.prologue == nullptr ? nullptr : parts.prologue->derivative();
}

template <class T>
void differentiate_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                             const Derivative& what, MatrixView<const T> X, Context& context,
                             MatrixView<T> out) {
  const DerivativeTerms terms = expand(what, X.cols, row_derivative(parts));
  if (X.rows == 0 || out.cols == 0) return;
  Stage stage(context, X.rows + 1);
  stage.share(1);
  const Matrix<T> weights =
      frequency_weights<T>(*parts.projections[0], *parts.epilogue->gradient(),
                           parts.epilogue->shape().reals, terms.monomials, context);
  stage.advance(1);
  stage.share(X.rows);
  run_tiles(DerivativeTiles<T>(parts, columns, X, {}, weights.view(), terms, out), context);
  stage.advance(X.rows);
}

template <class T>
void push_forward_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                            MatrixView<const T> X, MatrixView<const T> V, Context& context,
                            MatrixView<T> out) {
  if (X.rows == 0) return;
  const transform::RowDerivative* const rows = row_derivative(parts);
  const DerivativeTerms& terms = along_direction(rows != nullptr && rows->least(1) == 0);
  run_tiles(DerivativeTiles<T>(parts, columns, X, V, {}, terms, out), context);
}

#define MERCER_INSTANTIATE(T)                                                              \
  template void differentiate_projected(const ProjectedParts&, const ColumnNumbers<T>&,    \
                                        const Derivative&, MatrixView<const T>, Context&,  \
                                        MatrixView<T>);                                    \
  template void push_forward_projected(const ProjectedParts&, const ColumnNumbers<T>&,     \
                                       MatrixView<const T>, MatrixView<const T>, Context&, \
                                       MatrixView<T>);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

template <class T>
void pull_back_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                         MatrixView<const T> X, MatrixView<const T> G, Context& context,
                         MatrixView<T> out) {
  if (X.rows > 0) run_tiles(GradientTiles<T>(parts, columns, X, G, out), context);
}

template void pull_back_projected(const ProjectedParts&, const ColumnNumbers<float>&,
                                  MatrixView<const float>, MatrixView<const float>, Context&,
                                  MatrixView<float>);
template void pull_back_projected(const ProjectedParts&, const ColumnNumbers<double>&,
                                  MatrixView<const double>, MatrixView<const double>, Context&,
                                  MatrixView<double>);

}  // namespace mercer::feature
