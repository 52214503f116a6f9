// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sine and cosine are computed once for a row and a frequency, and stay in cache while every block
// of the result takes its copy: what remains is to write the result, around the caches if it is
// large. The tensor of all derivatives exists nowhere else.
#include "feature/projected_derivative.h"

#include <algorithm>
#include <vector>

#include "base/size.h"
#include "feature/frequency_weights.h"
#include "feature/tile_loop.h"
#include "transform/scaled_copies.h"

namespace mercer::feature {
namespace {

using projection::Blocks;

constexpr const char* kWhat = "tiles of derivatives";
constexpr int64_t kTileRows = 32;
// Rows whose features and slopes are held together, and columns of each: 256 KB.
constexpr int64_t kStepRows = 8;
constexpr int64_t kStepBytes = int64_t{32} << 10;

int64_t round_up(int64_t count) noexcept { return (count + 15) / 16 * 16; }

template <class T>
class DerivativeTiles final : public TileWork {
 public:
  /// Weights are those of `table`, or, along V, each row's own.
  DerivativeTiles(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                  MatrixView<const T> X, MatrixView<const T> V, MatrixView<const T> table,
                  const std::vector<uint8_t>& takes_slope, MatrixView<T> out)
      : projection_(*parts.projections[0]),
        gradient_(*parts.epilogue->gradient()),
        columns_(columns),
        parts_(parts.epilogue->shape().parts),
        reals_(parts.epilogue->shape().reals),
        shape_(projection_.shape(T{})),
        blocks_{0, (projection_.outputs() - 1) / shape_.columns + 1},
        X_(X),
        V_(V),
        table_(table),
        takes_slope_(takes_slope),
        out_(out),
        needs_slope_(std::ranges::count(takes_slope, uint8_t{1}) > 0),
        needs_value_(std::ranges::count(takes_slope, uint8_t{0}) > 0),
        step_rows_(std::min(shape_.rows, kStepRows)),
        together_(std::clamp<int64_t>(
            kStepBytes / (2 * parts_ * block_numbers() * static_cast<int64_t>(sizeof(T))), 1,
            blocks_.end)) {}

  void prepare(Context& context) const override {
    projection_.prepare(blocks_, T{}, context);
    columns_.prepare(blocks_, context);
  }

  TileCut cut() const override {
    const int64_t rows = 2 * part_numbers() * parts_ + part_numbers();
    const int64_t numbers = checked_add(checked_multiply(step_rows_, rows + shape_.columns, kWhat),
                                        round_up(shape_.scratch) + 16, kWhat);
    return {X_.rows, kTileRows, blocks_, together_, checked_multiply(numbers, sizeof(T), kWhat)};
  }

  void run(const Tile& tile) const noexcept override {
    for (int64_t i = tile.i0; i < tile.i1; i += step_rows_)
      step(tile.blocks, i, std::min(i + step_rows_, tile.i1), at(tile.scratch));
    if (streams()) transform::finish_streaming();
  }

 private:
  // One thread's; of every row of a step what is named.
  struct Scratch {
    T* P;        // a block
    T* value;    // features, part by part
    T* slope;    // the same
    T* weights;  // along V
    T* own;      // the projection's
  };

  int64_t block_numbers() const noexcept { return shape_.columns * reals_; }
  int64_t part_numbers() const noexcept { return together_ * block_numbers(); }
  bool streams() const noexcept { return goes_around_caches(out_); }

  Scratch at(std::byte* scratch) const noexcept {
    T* const P = reinterpret_cast<T*>(scratch);
    T* const value = P + round_up(step_rows_ * shape_.columns);
    T* const slope = value + step_rows_ * parts_ * part_numbers();
    T* const weights = slope + step_rows_ * parts_ * part_numbers();
    return {P, value, slope, weights, weights + step_rows_ * part_numbers()};
  }

  void step(Blocks blocks, int64_t i0, int64_t i1, const Scratch& scratch) const noexcept {
    for (int64_t block = blocks.begin; block < blocks.end; ++block) {
      const int64_t into = (block - blocks.begin) * block_numbers();
      if (V_.data != nullptr) {
        projection_.project(V_.block_rows(i0, i1), block, scratch.P, scratch.own);
        keep_weights(i1 - i0, into, scratch);
      }
      projection_.project(X_.block_rows(i0, i1), block, scratch.P, scratch.own);
      for (int64_t i = 0; i < i1 - i0; ++i) {
        const int64_t offset = i * parts_ * part_numbers() + into;
        gradient_.slopes({scratch.P + i * shape_.columns, columns_.scale(block),
                          columns_.phase(block), needs_value_ ? scratch.value + offset : nullptr,
                          needs_slope_ ? scratch.slope + offset : nullptr, part_numbers(),
                          shape_.columns});
      }
    }
    for (int64_t i = i0; i < i1; ++i) copy_row(blocks, i, i - i0, scratch);
  }

  // P = VW in the unit of the slopes, once for each number of a feature.
  void keep_weights(int64_t rows, int64_t into, const Scratch& scratch) const noexcept {
    const T angle = static_cast<T>(gradient_.angle());
    for (int64_t i = 0; i < rows; ++i) {
      T* const to = scratch.weights + i * part_numbers() + into;
      const T* const P = scratch.P + i * shape_.columns;
      for (int64_t j = 0; j < block_numbers(); ++j) to[j] = angle * P[j / reals_];
    }
  }

  void copy_row(Blocks blocks, int64_t i, int64_t within, const Scratch& scratch) const noexcept {
    const int64_t F = projection_.outputs(), first = blocks.begin * shape_.columns;
    const int64_t count = std::min(F, blocks.end * shape_.columns) - first;
    for (int64_t part = 0; part < parts_; ++part) {
      const int64_t offset = (within * parts_ + part) * part_numbers();
      transform::ScaledCopies<T> call{};
      call.value = scratch.value + offset;
      call.slope = scratch.slope + offset;
      call.takes_slope = takes_slope_.data();
      call.weights = V_.data != nullptr ? scratch.weights + within * part_numbers()
                                        : table_.data + first * reals_;
      call.weight_step = table_.ld;
      call.count = count * reals_;
      call.copies = static_cast<int64_t>(takes_slope_.size());
      call.to = out_.row(i) + (part * F + first) * reals_;
      call.to_step = parts_ * F * reals_;
      call.stream = streams();
      transform::scaled_copies(call);
    }
  }

  const projection::Projection& projection_;
  const transform::EpilogueGradient& gradient_;
  const ColumnNumbers<T>& columns_;
  int64_t parts_;
  int64_t reals_;
  projection::BlockShape shape_;
  Blocks blocks_;
  MatrixView<const T> X_;
  MatrixView<const T> V_;  // none: no data
  MatrixView<const T> table_;
  const std::vector<uint8_t>& takes_slope_;  // of every block of the result
  MatrixView<T> out_;
  bool needs_slope_;
  bool needs_value_;
  int64_t step_rows_;
  int64_t together_;  // blocks of columns that a tile takes
};

}  // namespace

template <class T>
void differentiate_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                             const Derivative& what, MatrixView<const T> X, Context& context,
                             MatrixView<T> out) {
  if (X.rows == 0 || out.cols == 0) return;
  Stage stage(context, X.rows + 1);
  stage.share(1);
  const FrequencyWeights<T> weights =
      frequency_weights<T>(*parts.projections[0], *parts.epilogue->gradient(),
                           parts.epilogue->shape().reals, what, context);
  stage.advance(1);
  stage.share(X.rows);
  run_tiles(
      DerivativeTiles<T>(parts, columns, X, {}, weights.table.view(), weights.takes_slope, out),
      context);
  stage.advance(X.rows);
}

template <class T>
void push_forward_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                            MatrixView<const T> X, MatrixView<const T> V, Context& context,
                            MatrixView<T> out) {
  if (X.rows == 0) return;
  const std::vector<uint8_t> slope = {1};
  run_tiles(DerivativeTiles<T>(parts, columns, X, V, {}, slope, out), context);
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
