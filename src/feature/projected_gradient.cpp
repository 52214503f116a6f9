// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A tile is some rows times all blocks, since every block adds to the same rows of the result. P is
// computed again, which costs little beside the rest, so that nothing has to be kept.
#include "feature/projected_gradient.h"

#include <algorithm>

#include "base/size.h"
#include "feature/projected_derivative.h"
#include "feature/tile_loop.h"
#include "feature/tile_rows.h"
#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

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
