// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// dz = 2 half scale (P_0^2 + P_1^2)^{half - 1} (P_0 dP_0 + P_1 dP_1), dP the projections of a
// direction; those of the inputs are the projections' weights, which all rows share.
#include "feature/modulus_derivative.h"

#include <algorithm>
#include <vector>

#include "base/aligned.h"
#include "base/size.h"
#include "feature/tile_loop.h"
#include "transform/dense_panel.h"

namespace mercer::feature {
namespace {

using projection::Blocks;

constexpr int64_t kValue = -1;  // in a list of inputs: the features themselves
constexpr const char* kWhat = "tiles of derivatives";

int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

/// `finish` goes on from slopes[f] = 2 half scale (P_0^2 + P_1^2)^{half - 1} P_f and the features.
template <class T>
class ModulusTiles : public TileWork {
 public:
  void prepare(Context& context) const override {
    for (const projection::Projection* one : projections_) one->prepare(blocks_, T{}, context);
  }
  TileCut cut() const override {
    const int64_t own = round_up(std::max(shape_.scratch, shape_.transpose_scratch));
    const int64_t numbers = checked_add(checked_multiply(block_, 5, kWhat), own, kWhat);
    return {X_.rows, rows_, blocks_, blocks_.end, checked_multiply(numbers, sizeof(T), kWhat)};
  }
  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    const Scratch s{
        {P, P + block_}, {P + 2 * block_, P + 3 * block_}, P + 4 * block_, P + 5 * block_};
    begin_tile(tile);
    for (int64_t block = tile.blocks.begin; block < tile.blocks.end; ++block) {
      project(X_.block_rows(tile.i0, tile.i1), block, s.slopes, s.own);
      for (int64_t j = 0; j < (tile.i1 - tile.i0) * shape_.columns; ++j) {
        const T square = s.slopes[0][j] * s.slopes[0][j] + s.slopes[1][j] * s.slopes[1][j];
        T power = scale_;
        for (int64_t m = 1; m < half_; ++m) power *= square;
        s.values[j] = power * square;
        for (T* slope : s.slopes) slope[j] *= 2 * static_cast<T>(half_) * power;
      }
      finish(tile, block, s);
    }
  }

 protected:
  struct Scratch {
    T* slopes[2];
    T* along[2];
    T* values;
    T* own;
  };

  ModulusTiles(const ModulusParts& parts, MatrixView<const T> X)
      : projections_{&parts.re, &parts.im},
        shape_(parts.re.shape(T{})),
        blocks_{0, (parts.re.outputs() - 1) / shape_.columns + 1},
        rows_(std::min(shape_.rows, transform::kTileRows)),
        block_(round_up(shape_.rows * shape_.columns)),
        X_(X),
        half_(parts.half),
        scale_(static_cast<T>(parts.scale)) {}

  void project(MatrixView<const T> X, int64_t block, T* const (&to)[2], T* own) const noexcept {
    for (size_t f = 0; f < 2; ++f) projections_[f]->project(X, block, to[f], own);
  }
  const projection::Projection& projection(size_t f) const noexcept { return *projections_[f]; }
  int64_t columns() const noexcept { return shape_.columns; }
  int64_t first(int64_t block) const noexcept { return block * shape_.columns; }
  // Columns of a block that the map has.
  int64_t count(int64_t block) const noexcept {
    return std::min(shape_.columns, projections_[0]->outputs() - first(block));
  }
  int64_t padded() const noexcept { return blocks_.end * shape_.columns; }
  Blocks blocks() const noexcept { return blocks_; }
  int64_t most_rows() const noexcept { return rows_; }
  int64_t scratch() const noexcept { return round_up(shape_.scratch); }

 private:
  virtual void begin_tile(const Tile&) const noexcept {}
  virtual void finish(const Tile& tile, int64_t block, const Scratch& s) const noexcept = 0;

  const projection::Projection* projections_[2];
  projection::BlockShape shape_;
  Blocks blocks_;
  int64_t rows_;
  int64_t block_;  // numbers
  MatrixView<const T> X_;
  int64_t half_;
  T scale_;
};

// Block b of out is along input inputs[b].
template <class T>
class InputTiles final : public ModulusTiles<T> {
  using Base = ModulusTiles<T>;

 public:
  InputTiles(const ModulusParts& parts, MatrixView<const T> X, std::vector<int64_t> inputs,
             MatrixView<T> out)
      : Base(parts, X), d_(X.cols), D_(parts.re.outputs()), inputs_(std::move(inputs)), out_(out) {}

  void prepare(Context& context) const override {
    Base::prepare(context);
    // A projection takes few rows: unit vectors, so many at a time.
    const int64_t some = std::min(Base::most_rows(), d_);
    const Matrix<T> units(some, d_, context, kWhat);
    const int64_t size = round_up(Base::most_rows() * Base::columns());
    const AlignedBuffer<T> room(
        checked_add(checked_multiply(size, 2, kWhat), Base::scratch(), kWhat), context, kWhat);
    for (Matrix<T>& one : weights_) one = Matrix<T>(d_, Base::padded(), context, kWhat);
    for (int64_t k0 = 0; k0 < d_; k0 += some) {
      const int64_t rows = std::min(some, d_ - k0);
      units.fill(T{0});
      for (int64_t k = 0; k < rows; ++k) units(k, k0 + k) = 1;
      for (int64_t block = 0; block < Base::blocks().end; ++block) {
        T* const to[2] = {room.data(), room.data() + size};
        Base::project(units.view().block_rows(0, rows), block, to, room.data() + 2 * size);
        for (size_t f = 0; f < 2; ++f)
          for (int64_t k = 0; k < rows; ++k)
            std::copy_n(to[f] + k * Base::columns(), Base::columns(),
                        &weights_[f](k0 + k, Base::first(block)));
      }
      context.checkpoint();
    }
  }

 private:
  void finish(const Tile& tile, int64_t block,
              const typename Base::Scratch& s) const noexcept override {
    const int64_t first = Base::first(block), count = Base::count(block);
    for (int64_t i = tile.i0; i < tile.i1; ++i) {
      const int64_t at = (i - tile.i0) * Base::columns();
      for (size_t b = 0; b < inputs_.size(); ++b) {
        T* const to = out_.row(i) + static_cast<int64_t>(b) * D_ + first;
        if (inputs_[b] == kValue) {
          std::copy_n(s.values + at, count, to);
          continue;
        }
        const T *const re = weights_[0].view().row(inputs_[b]) + first, *const im =
                                                                            weights_[1].view().row(
                                                                                inputs_[b]) +
                                                                            first;
        for (int64_t j = 0; j < count; ++j)
          to[j] = s.slopes[0][at + j] * re[j] + s.slopes[1][at + j] * im[j];
      }
    }
  }

  int64_t d_;
  int64_t D_;
  std::vector<int64_t> inputs_;
  MatrixView<T> out_;
  mutable Matrix<T> weights_[2];  // d x columns, of prepare
};

template <class T>
class ForwardTiles final : public ModulusTiles<T> {
  using Base = ModulusTiles<T>;

 public:
  ForwardTiles(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> V,
               MatrixView<T> out)
      : Base(parts, X), V_(V), out_(out) {}

 private:
  void finish(const Tile& tile, int64_t block,
              const typename Base::Scratch& s) const noexcept override {
    Base::project(V_.block_rows(tile.i0, tile.i1), block, s.along, s.own);
    for (int64_t i = tile.i0; i < tile.i1; ++i) {
      const int64_t at = (i - tile.i0) * Base::columns();
      T* const to = out_.row(i) + Base::first(block);
      for (int64_t j = 0; j < Base::count(block); ++j)
        to[j] = s.slopes[0][at + j] * s.along[0][at + j] + s.slopes[1][at + j] * s.along[1][at + j];
    }
  }

  MatrixView<const T> V_;
  MatrixView<T> out_;
};

template <class T>
class BackwardTiles final : public ModulusTiles<T> {
  using Base = ModulusTiles<T>;

 public:
  BackwardTiles(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> G,
                MatrixView<T> out)
      : Base(parts, X), G_(G), out_(out) {}

 private:
  void begin_tile(const Tile& tile) const noexcept override {
    for (int64_t i = tile.i0; i < tile.i1; ++i) std::fill_n(out_.row(i), out_.cols, T{0});
  }
  void finish(const Tile& tile, int64_t block,
              const typename Base::Scratch& s) const noexcept override {
    for (size_t f = 0; f < 2; ++f) {
      for (int64_t i = tile.i0; i < tile.i1; ++i) {
        const int64_t at = (i - tile.i0) * Base::columns();
        const T* const g = G_.row(i) + Base::first(block);
        for (int64_t j = 0; j < Base::count(block); ++j) s.slopes[f][at + j] *= g[j];
        std::fill(s.slopes[f] + at + Base::count(block), s.slopes[f] + at + Base::columns(), T{0});
      }
      Base::projection(f).project_transpose(s.slopes[f], block, out_.block_rows(tile.i0, tile.i1),
                                            s.own);
    }
  }

  MatrixView<const T> G_;
  MatrixView<T> out_;
};

}  // namespace

template <class T>
void differentiate_rows(const ModulusParts& parts, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  std::vector<int64_t> inputs;
  for (const std::vector<MultiIndex>& block : partials_of(what, X.cols))
    inputs.push_back(block[0].empty() ? kValue : block[0][0].input);
  if (X.rows > 0) run_tiles(InputTiles<T>(parts, X, std::move(inputs), out), context);
}

template <class T>
void push_rows_forward(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  if (X.rows > 0) run_tiles(ForwardTiles<T>(parts, X, V, out), context);
}

template <class T>
void pull_rows_back(const ModulusParts& parts, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  if (X.rows > 0) run_tiles(BackwardTiles<T>(parts, X, G, out), context);
}

MERCER_INSTANTIATE_DERIVATIVES(ModulusParts)

}  // namespace mercer::feature
