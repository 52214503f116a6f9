// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tiles of two projections of the same rows, a real and an imaginary part.
#pragma once

#include <algorithm>
#include <array>

#include "base/aligned.h"
#include "base/size.h"
#include "feature/modulus_derivative.h"
#include "feature/tile_loop.h"
#include "transform/dense_panel.h"

namespace mercer::feature {

inline constexpr const char* kModulusTiles = "tiles of derivatives";

/// The two projections, and how rows and columns are cut.
class ModulusPair {
 public:
  template <class T>
  ModulusPair(const ModulusParts& parts, T)
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

  projection::Blocks blocks() const noexcept { return blocks_; }
  int64_t rows() const noexcept { return rows_; }  // most rows of a tile
  int64_t columns() const noexcept { return shape_.columns; }
  int64_t first(int64_t block) const noexcept { return block * shape_.columns; }
  // Columns of a block that are columns of the map.
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
  projection::Blocks blocks_;
  int64_t rows_;
};

/// A block of columns of a tile's rows, which stand columns() apart.
template <class T>
struct ModulusBlock {
  Tile tile;
  int64_t block;
  T* P[2];
  T* along[2];  // room for the projections of directions
  T* own;       // the projections'
  T* terms;     // room for functions of P, one block after the other
};

/// Calls body(block) for every block of a tile in order, with room for so many terms.
template <class T, class Body>
class ModulusTiles final : public TileWork {
 public:
  ModulusTiles(const ModulusPair& pair, int64_t terms, MatrixView<const T> X, const Body& body)
      : pair_(pair), terms_(terms), X_(X), body_(body) {}

  void prepare(Context& context) const override { pair_.prepare(context, T{}); }
  TileCut cut() const override {
    const int64_t numbers =
        checked_add(checked_multiply(pair_.block_numbers(), 4 + terms_, kModulusTiles),
                    pair_.own_numbers(), kModulusTiles);
    return {X_.rows, pair_.rows(), pair_.blocks(), pair_.blocks().end,
            checked_multiply(numbers, sizeof(T), kModulusTiles)};
  }
  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    const int64_t size = pair_.block_numbers();
    T* const own = P + 4 * size;
    for (int64_t block = tile.blocks.begin; block < tile.blocks.end; ++block) {
      const ModulusBlock<T> b{
          tile, block, {P, P + size}, {P + 2 * size, P + 3 * size}, own, own + pair_.own_numbers()};
      pair_.project(X_.block_rows(tile.i0, tile.i1), block, b.P, b.own);
      body_(b);
    }
  }

 private:
  const ModulusPair& pair_;
  int64_t terms_;
  MatrixView<const T> X_;
  const Body& body_;
};

template <class T, class Body>
void for_each_block(const ModulusPair& pair, int64_t terms, MatrixView<const T> X, Context& context,
                    const Body& body) {
  if (X.rows > 0) run_tiles(ModulusTiles<T, Body>(pair, terms, X, body), context);
}

/// The rows of W for a block, d x columns, of either projection: products with unit vectors, as
/// many at a time as it takes.
template <class T>
std::array<Matrix<T>, 2> modulus_weights(const ModulusPair& pair, int64_t d, Context& context) {
  pair.prepare(context, T{});
  const int64_t some = std::min(pair.rows(), d), size = pair.block_numbers();
  const Matrix<T> units(some, d, context, kModulusTiles);
  const AlignedBuffer<T> room(
      checked_add(checked_multiply(size, 2, kModulusTiles), pair.own_numbers(), kModulusTiles),
      context, kModulusTiles);
  T* const to[2] = {room.data(), room.data() + size};
  std::array<Matrix<T>, 2> weights;
  for (Matrix<T>& one : weights)
    one = Matrix<T>(d, pair.first(pair.blocks().end), context, kModulusTiles);
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

}  // namespace mercer::feature
