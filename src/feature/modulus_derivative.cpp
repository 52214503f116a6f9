// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// dz = 2 half scale (P_0^2 + P_1^2)^{half - 1} (P_0 dP_0 + P_1 dP_1), dP the projections of a
// direction; those of the inputs are the projections' weights, which all rows share.
#include "feature/modulus_derivative.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "feature/tile_loop.h"
#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

using projection::Blocks;

constexpr const char* kWhat = "tiles of derivatives";

int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

/// The two projections, and how their rows and columns are cut.
class Pair {
 public:
  template <class T>
  Pair(const ModulusParts& parts, T)
      : parts_{&parts.re, &parts.im},
        shape_(parts.re.shape(T{})),
        blocks_{0, (parts.re.outputs() - 1) / shape_.columns + 1},
        rows_(std::min(shape_.rows, transform::kTileRows)) {}

  const projection::Projection& operator[](size_t f) const noexcept { return *parts_[f]; }
  template <class T>
  void prepare(Context& context, T) const {
    for (const projection::Projection* one : parts_) one->prepare(blocks_, T{}, context);
  }
  template <class T>
  void project(MatrixView<const T> X, int64_t block, T* const (&to)[2], T* own) const noexcept {
    for (size_t f = 0; f < 2; ++f) parts_[f]->project(X, block, to[f], own);
  }

  Blocks blocks() const noexcept { return blocks_; }
  int64_t rows() const noexcept { return rows_; }  // of a tile, at most
  int64_t columns() const noexcept { return shape_.columns; }
  int64_t first(int64_t block) const noexcept { return block * shape_.columns; }
  // Columns of a block that the map has.
  int64_t count(int64_t block) const noexcept {
    return std::min(shape_.columns, parts_[0]->outputs() - first(block));
  }
  int64_t block_numbers() const noexcept { return round_up(shape_.rows * shape_.columns); }
  int64_t own_numbers() const noexcept {
    return round_up(std::max(shape_.scratch, shape_.transpose_scratch));
  }

 private:
  const projection::Projection* parts_[2];
  projection::BlockShape shape_;
  Blocks blocks_;
  int64_t rows_;
};

/// A block of columns of a tile's rows, which stand columns() apart.
template <class T>
struct ModulusBlock {
  Tile tile;
  int64_t block;
  T* slopes[2];  // 2 half scale (P_0^2 + P_1^2)^{half - 1} P_f
  T* along[2];   // room for the projections of directions
  T* values;     // the features
  T* own;        // the projections'
};

/// body(block), every block of a tile in order.
template <class T, class Body>
class ModulusTiles final : public TileWork {
 public:
  ModulusTiles(const Pair& pair, const ModulusParts& parts, MatrixView<const T> X, const Body& body)
      : pair_(pair), X_(X), body_(body), half_(parts.half), scale_(static_cast<T>(parts.scale)) {}

  void prepare(Context& context) const override { pair_.prepare(context, T{}); }
  TileCut cut() const override {
    const int64_t numbers =
        checked_add(checked_multiply(pair_.block_numbers(), 5, kWhat), pair_.own_numbers(), kWhat);
    return {X_.rows, pair_.rows(), pair_.blocks(), pair_.blocks().end,
            checked_multiply(numbers, sizeof(T), kWhat)};
  }
  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    const int64_t size = pair_.block_numbers();
    for (int64_t block = tile.blocks.begin; block < tile.blocks.end; ++block) {
      const ModulusBlock<T> b{
          tile, block, {P, P + size}, {P + 2 * size, P + 3 * size}, P + 4 * size, P + 5 * size};
      pair_.project(X_.block_rows(tile.i0, tile.i1), block, b.slopes, b.own);
      for (int64_t j = 0; j < (tile.i1 - tile.i0) * pair_.columns(); ++j) {
        const T square = b.slopes[0][j] * b.slopes[0][j] + b.slopes[1][j] * b.slopes[1][j];
        T power = scale_;
        for (int64_t m = 1; m < half_; ++m) power *= square;
        b.values[j] = power * square;
        for (T* slope : b.slopes) slope[j] *= 2 * static_cast<T>(half_) * power;
      }
      body_(b);
    }
  }

 private:
  const Pair& pair_;
  MatrixView<const T> X_;
  const Body& body_;
  int64_t half_;
  T scale_;
};

template <class T, class Body>
void for_each_block(const Pair& pair, const ModulusParts& parts, MatrixView<const T> X,
                    Context& context, const Body& body) {
  if (X.rows > 0) run_tiles(ModulusTiles<T, Body>(pair, parts, X, body), context);
}

// d x columns, of either projection: its rows of unit vectors, as many at a time as it takes.
template <class T>
std::array<Matrix<T>, 2> weights_of(const Pair& pair, int64_t d, Context& context) {
  pair.prepare(context, T{});
  const int64_t some = std::min(pair.rows(), d), size = pair.block_numbers();
  const Matrix<T> units(some, d, context, kWhat);
  const AlignedBuffer<T> room(
      checked_add(checked_multiply(size, 2, kWhat), pair.own_numbers(), kWhat), context, kWhat);
  T* const to[2] = {room.data(), room.data() + size};
  std::array<Matrix<T>, 2> weights;
  for (Matrix<T>& one : weights) one = Matrix<T>(d, pair.first(pair.blocks().end), context, kWhat);
  for (int64_t k0 = 0; k0 < d; k0 += some) {
    const int64_t rows = std::min(some, d - k0);
    units.fill(T{0});
    for (int64_t k = 0; k < rows; ++k) units(k, k0 + k) = 1;
    for (int64_t block = 0; block < pair.blocks().end; ++block) {
      pair.project<T>(units.view().block_rows(0, rows), block, to, room.data() + 2 * size);
      for (size_t f = 0; f < 2; ++f)
        for (int64_t k = 0; k < rows; ++k)
          std::copy_n(to[f] + k * pair.columns(), pair.columns(),
                      &weights[f](k0 + k, pair.first(block)));
    }
    context.checkpoint();
  }
  return weights;
}

}  // namespace

template <class T>
void differentiate_rows(const ModulusParts& parts, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const std::vector<int64_t> inputs = first_order_inputs(what, X.cols);
  if (X.rows == 0) return;
  const Pair pair(parts, T{});
  const int64_t D = parts.re.outputs();
  Stage stage(context, X.rows + 1);
  stage.share(1);
  const std::array<Matrix<T>, 2> weights = weights_of<T>(pair, X.cols, context);
  stage.advance(1);
  stage.share(X.rows);
  for_each_block(pair, parts, X, context, [&](const ModulusBlock<T>& s) noexcept {
    const int64_t first = pair.first(s.block), count = pair.count(s.block);
    for (int64_t i = s.tile.i0; i < s.tile.i1; ++i) {
      const int64_t at = (i - s.tile.i0) * pair.columns();
      for (int64_t b = 0; b < std::ssize(inputs); ++b) {
        const int64_t input = inputs[static_cast<size_t>(b)];
        T* const to = out.row(i) + b * D + first;
        if (input == kNoInput) {
          std::copy_n(s.values + at, count, to);
          continue;
        }
        const T* const re = weights[0].view().row(input) + first;
        const T* const im = weights[1].view().row(input) + first;
        for (int64_t j = 0; j < count; ++j)
          to[j] = s.slopes[0][at + j] * re[j] + s.slopes[1][at + j] * im[j];
      }
    }
  });
  stage.advance(X.rows);
}

template <class T>
void push_rows_forward(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const Pair pair(parts, T{});
  for_each_block(pair, parts, X, context, [&](const ModulusBlock<T>& s) noexcept {
    pair.project(V.block_rows(s.tile.i0, s.tile.i1), s.block, s.along, s.own);
    for (int64_t i = s.tile.i0; i < s.tile.i1; ++i) {
      const int64_t at = (i - s.tile.i0) * pair.columns();
      T* const to = out.row(i) + pair.first(s.block);
      for (int64_t j = 0; j < pair.count(s.block); ++j)
        to[j] = s.slopes[0][at + j] * s.along[0][at + j] + s.slopes[1][at + j] * s.along[1][at + j];
    }
  });
}

template <class T>
void pull_rows_back(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  const Pair pair(parts, T{});
  for_each_block(pair, parts, X, context, [&](const ModulusBlock<T>& s) noexcept {
    const MatrixView<T> sum = out.block_rows(s.tile.i0, s.tile.i1);
    const int64_t count = pair.count(s.block);
    for (int64_t i = 0; i < sum.rows && s.block == 0; ++i) std::fill_n(sum.row(i), sum.cols, T{0});
    for (size_t f = 0; f < 2; ++f) {
      for (int64_t i = 0; i < sum.rows; ++i) {
        T* const slopes = s.slopes[f] + i * pair.columns();
        const T* const g = G.row(s.tile.i0 + i) + pair.first(s.block);
        for (int64_t j = 0; j < count; ++j) slopes[j] *= g[j];
        std::fill(slopes + count, slopes + pair.columns(), T{0});
      }
      pair[f].project_transpose(s.slopes[f], s.block, sum, s.own);
    }
  });
}

MERCER_INSTANTIATE_DERIVATIVES(ModulusParts)

}  // namespace mercer::feature
