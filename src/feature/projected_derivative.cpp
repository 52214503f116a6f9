// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sine and cosine are computed once for a row and a frequency, and stay in cache while every block
// of the result takes its copy: what remains is to write the result, past the caches if it is
// large. Where rows are rewritten or scaled first, every row has its own numbers for the terms of
// the product rule.
#include "feature/projected_derivative.h"

#include <algorithm>
#include <vector>

#include "base/size.h"
#include "feature/derivative_scratch.h"
#include "feature/derivative_terms.h"
#include "feature/frequency_weights.h"
#include "feature/tile_loop.h"
#include "feature/tile_rows.h"
#include "transform/scaled_sums.h"

namespace mercer::feature {
namespace {

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

}  // namespace mercer::feature
