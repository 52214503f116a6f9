// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tiles of rows that move along inputs, along directions of their own, or along every input in turn
// for the gradient (tangent_tile.h).
#include "feature/sketch_tangents.h"

#include <algorithm>
#include <vector>

#include "feature/tangent_tile.h"
#include "feature/tile_loop.h"

namespace mercer::feature {
namespace {

/// body(tile, i0): of a tile that begins with row i0.
template <class T, class Body>
class TangentTiles final : public TileWork {
 public:
  TangentTiles(const TangentSketch& sketch, MatrixView<const T> X, const Body& body)
      : sketch_(sketch), X_(X), body_(body), plan_(TangentPlan::of<T>(sketch.tree, X.cols)) {}

  void prepare(Context& context) const override {
    sketch_.tree.prepare<T>({0, sketch_.tree.root().columns()}, context);
  }
  TileCut cut() const override { return {X_.rows, plan_.rows, {0, 1}, 1, plan_.bytes}; }
  void begin(std::byte* scratch) const noexcept override {
    TangentTile<T>::begin_scratch(plan_, scratch);
  }
  void run(const Tile& tile) const noexcept override {
    body_(TangentTile<T>(sketch_, plan_, X_.block_rows(tile.i0, tile.i1), tile.scratch), tile.i0);
  }

 private:
  const TangentSketch& sketch_;
  MatrixView<const T> X_;
  const Body& body_;
  TangentPlan plan_;
};

template <class T, class Body>
void for_each_tile(const TangentSketch& sketch, MatrixView<const T> X, Context& context,
                   const Body& body) {
  if (X.rows > 0) run_tiles(TangentTiles<T, Body>(sketch, X, body), context);
}

}  // namespace

template <class T>
void differentiate_rows(const TangentSketch& sketch, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const std::vector<int64_t> inputs = first_order_inputs(what, X.cols);
  const int64_t width = out.cols / std::max<int64_t>(std::ssize(inputs), 1);
  for_each_tile(sketch, X, context, [&](const TangentTile<T>& tile, int64_t i0) noexcept {
    for (int64_t b = 0; b < std::ssize(inputs); ++b) {
      const auto put = [&](int64_t i, int64_t j, T number) noexcept {
        out(i0 + i, b * width + j) = number;
      };
      const int64_t input = inputs[static_cast<size_t>(b)];
      if (input == kNoInput) {
        tile.for_each_feature(put);
        continue;
      }
      tile.move_along_input(input);
      tile.for_each_tangent(put);
    }
  });
}

template <class T>
void push_rows_forward(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  for_each_tile(sketch, X, context, [&](const TangentTile<T>& tile, int64_t i0) noexcept {
    const MatrixView<T> direction = tile.direction();
    for (int64_t i = 0; i < tile.rows(); ++i) std::copy_n(V.row(i0 + i), V.cols, direction.row(i));
    tile.move();
    tile.for_each_tangent(
        [&](int64_t i, int64_t j, T number) noexcept { out(i0 + i, j) = number; });
  });
}

template <class T>
void pull_rows_back(const TangentSketch& sketch, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  for_each_tile(sketch, X, context, [&](const TangentTile<T>& tile, int64_t i0) noexcept {
    for (int64_t k = 0; k < out.cols; ++k) {
      tile.move_along_input(k);
      double sums[TangentPlan::kMostRows] = {};
      tile.for_each_tangent([&](int64_t i, int64_t j, T number) noexcept {
        sums[i] += static_cast<double>(number) * static_cast<double>(G(i0 + i, j));
      });
      for (int64_t i = 0; i < tile.rows(); ++i) out(i0 + i, k) = static_cast<T>(sums[i]);
    }
  });
}

MERCER_INSTANTIATE_DERIVATIVES(TangentSketch)

}  // namespace mercer::feature
