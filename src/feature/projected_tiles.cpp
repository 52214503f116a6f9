// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A tile is some rows times a range of the projections' blocks, done block by block, so that a
// block of W stays in cache while the rows pass over it.
#include "feature/projected_tiles.h"

#include <algorithm>
#include <type_traits>

#include "base/rows.h"
#include "base/size.h"
#include "feature/column_slice.h"
#include "feature/column_store.h"
#include "feature/tile_loop.h"
#include "feature/tile_rows.h"
#include "transform/dense_panel.h"
#include "transform/sparse_panel.h"

namespace mercer::feature {
namespace {

using projection::Blocks;

// With fewer multiply-adds than this waking a worker does not pay.
constexpr double kSerialWork = 1 << 20;
constexpr int64_t kLeastTiles = 16;
// Columns buffered before rows are streamed: with fewer, stores stop so often that memory waits for
// the arithmetic.
constexpr int64_t kBufferedColumns = 256;

// What the loop needs to know of rows, dense or sparse: rows of a tile, numbers read per row, how
// to compute a block of P.
template <class T>
constexpr int64_t tile_rows(MatrixView<const T>) {
  return transform::kTileRows;
}
template <class T>
constexpr int64_t tile_rows(const CsrView<T>&) {
  return transform::kSparseTileRows;
}
template <class T>
double row_work(MatrixView<const T> X) {
  return static_cast<double>(X.cols);
}
template <class T>
double row_work(const CsrView<T>& X) {
  return static_cast<double>(X.nonzeros()) / static_cast<double>(X.rows);
}
template <class T>
void project(const projection::Projection& projection, MatrixView<const T> X, int64_t block, T* P,
             T* scratch) noexcept {
  projection.project(X, block, P, scratch);
}
template <class T>
void project(const projection::Projection& projection, const CsrView<T>& X, int64_t block, T* P,
             T* scratch) noexcept {
  projection.sparse()->project_sparse(X, block, P, scratch);
}

template <class View>
class ProjectedTiles final : public TileWork {
  using T = RowNumberOf<View>;
  using TileRows = std::conditional_t<kIsSparse<View>, SparseTileRows<T>, DenseTileRows<T>>;

 public:
  ProjectedTiles(const ProjectedParts& parts, const ColumnNumbers<T>& columns, const View& X,
                 Columns c, MatrixView<T> Z, RowWatch<T>* watch)
      : parts_(parts),
        watch_(watch),
        columns_(columns),
        X_(X),
        epilogue_(parts.epilogue->shape()),
        shape_(parts.projections[0]->shape(T{})),
        slice_(parts.projections[0]->outputs(), epilogue_.parts, epilogue_.reals, c),
        store_(slice_, Z, epilogue_.carries),
        rows_(parts.prologue.get(), X, tile_rows(X)) {
    const Blocks hull = slice_.hull();
    blocks_ = {hull.begin / shape_.columns, ceil_divide(hull.end, shape_.columns)};
    // P of all factors should fit where P of one does.
    step_rows_ = std::max<int64_t>(1, shape_.rows / epilogue_.factors);
    for (size_t f = 0; f < parts.projections.size(); ++f) {
      factors_.push_back(&parts.of_rows(f));
      own_scratch_ = std::max(own_scratch_, factors_[f]->shape(T{}).scratch);
    }
    if (store_.buffers_all()) group_ = ceil_divide(kBufferedColumns, shape_.columns);
    plan_scratch();
  }

  void prepare(Context& context) const override {
    for (const projection::Projection* projection : factors_)
      projection->prepare(blocks_, T{}, context);
    columns_.prepare(blocks_, context);
  }

  TileCut cut() const override {
    const int64_t rows = tile_rows(X_), blocks = blocks_.end - blocks_.begin;
    const double work = static_cast<double>(X_.rows) *
                        static_cast<double>(blocks * shape_.columns) * (row_work(X_) + 16);
    const int64_t wanted =
        work < kSerialWork ? 1 : ceil_divide(kLeastTiles, ceil_divide(X_.rows, rows));
    return {X_.rows, rows, blocks_, ceil_divide(blocks, std::min(blocks, wanted)),
            checked_multiply(scratch_, sizeof(T), "a tile")};
  }

  void begin(std::byte* scratch) const noexcept override { rows_.begin(at(scratch).rows); }

  void run(const Tile& tile) const noexcept override {
    if (watch_ != nullptr && tile.blocks.begin == blocks_.begin &&
        goes_beyond(X_, tile.i0, tile.i1, watch_->most))
      watch_->found.store(true, std::memory_order_relaxed);
    const Scratch scratch = at(tile.scratch);
    const View X = rows_.rows(tile.i0, tile.i1, scratch.rows, scratch.numbers);
    for (int64_t block = tile.blocks.begin; block < tile.blocks.end; block += group_) {
      const Blocks group{block, std::min(block + group_, tile.blocks.end)};
      for (int64_t i = 0; i < X.rows; i += step_rows_)
        run_group(tile, group, X, {i, std::min(i + step_rows_, X.rows)}, scratch);
    }
    if (store_.streams()) transform::finish_streaming();
  }

 private:
  // Scratch of one thread.
  struct Scratch {
    T* P;         // of all factors
    T* buffer;    // of finished blocks
    T* own;       // the projection's
    T* epilogue;  // the epilogue's
    T* carry;     // of the rows of a tile
    T* numbers;   // of the rows of a tile
    T* rows;      // rewritten
  };

  int64_t factor_step() const noexcept { return step_rows_ * shape_.columns; }
  int64_t block_numbers() const noexcept { return shape_.columns * epilogue_.reals; }
  void plan_scratch() {
    const int64_t most_rows = std::min(tile_rows(X_), X_.rows);
    const BlockBuffer<T> buffer{nullptr, step_rows_, group_ * block_numbers()};
    const int64_t sizes[] = {factor_step() * epilogue_.factors,
                             epilogue_.parts * buffer.part_step(),
                             own_scratch_,
                             factor_step() * epilogue_.scratch,
                             most_rows * store_.carried(),
                             most_rows * epilogue_.row_numbers,
                             rows_.scratch()};
    for (size_t part = 0; part < std::size(sizes); ++part) {
      offsets_[part] = scratch_;
      scratch_ = checked_add(scratch_, round_up(sizes[part]), "a tile");
    }
  }

  Scratch at(std::byte* scratch) const noexcept {
    T* const first = reinterpret_cast<T*>(scratch);
    return {first + offsets_[0], first + offsets_[1], first + offsets_[2], first + offsets_[3],
            first + offsets_[4], first + offsets_[5], first + offsets_[6]};
  }

  // Rows [begin, end) of a tile.
  struct Step {
    int64_t begin;
    int64_t end;
  };

  // Finishes columns in Z itself where that is possible, else in a buffer.
  void run_group(const Tile& tile, Blocks group, const View& X, Step step,
                 const Scratch& scratch) const noexcept {
    const Blocks columns = columns_of(group);
    const View rows = X.block_rows(step.begin, step.end);
    const int64_t i0 = tile.i0 + step.begin;
    T* const carry = scratch.carry + step.begin * store_.carried();
    transform::EpilogueBlock<T> one = rows_block(rows.rows, step, scratch);
    if (store_.is_direct(columns, columns_of(tile.blocks))) {
      one.out = store_.target(0, i0, columns.begin);
      one.part_step = slice_.part_step();
      one.ld = store_.ld();
      one.stream = store_.streams();
      one.carry = store_.carried() > 0 ? carry : nullptr;
      one.carry_step = store_.carried();
      return finish_blocks(group, rows, scratch, one);
    }
    const BlockBuffer<T> buffer{scratch.buffer, rows.rows,
                                (group.end - group.begin) * block_numbers()};
    one.out = buffer.row(0, 0);
    one.part_step = buffer.part_step();
    one.ld = buffer.ld();
    store_.resume(buffer, carry);
    finish_blocks(group, rows, scratch, one);
    store_.put(buffer, columns, columns_of(tile.blocks), i0, carry);
  }

  // `one` has everything except the columns' numbers.
  void finish_blocks(Blocks group, const View& X, const Scratch& scratch,
                     transform::EpilogueBlock<T> one) const noexcept {
    for (int64_t block = group.begin; block < group.end; ++block) {
      for (size_t f = 0; f < factors_.size(); ++f)
        project(*factors_[f], X, block, scratch.P + static_cast<int64_t>(f) * factor_step(),
                scratch.own);
      one.scale = columns_.scale(block);
      one.phase = columns_.phase(block);
      parts_.epilogue->finish(one);
      one.out += block_numbers();
    }
  }

  Blocks columns_of(Blocks blocks) const noexcept {
    return {blocks.begin * shape_.columns, blocks.end * shape_.columns};
  }

  // Everything except the columns' numbers and where they go.
  transform::EpilogueBlock<T> rows_block(int64_t rows, Step step,
                                         const Scratch& scratch) const noexcept {
    transform::EpilogueBlock<T> one{};
    one.P = scratch.P;
    one.factor_step = factor_step();
    one.rows = rows;
    one.columns = shape_.columns;
    one.row_numbers = scratch.numbers + step.begin * epilogue_.row_numbers;
    one.scratch = scratch.epilogue;
    return one;
  }

  const ProjectedParts& parts_;
  RowWatch<T>* watch_;
  std::vector<const projection::Projection*> factors_;
  const ColumnNumbers<T>& columns_;
  View X_;
  transform::EpilogueShape epilogue_;
  projection::BlockShape shape_;
  ColumnSlice slice_;
  ColumnStore<T> store_;
  TileRows rows_;
  Blocks blocks_{};
  int64_t step_rows_ = 1;  // projected together
  int64_t group_ = 1;      // blocks that are stored together
  int64_t own_scratch_ = 0;
  int64_t offsets_[7] = {};
  int64_t scratch_ = 0;
};

template <class T, class View>
void apply_pieces(const ProjectedParts& parts, const ColumnNumbers<T>& columns, const View& X,
                  Columns c, Context& context, MatrixView<T> Z, RowWatch<T>* watch) {
  if (X.rows == 0 || c.begin == c.end) return;
  const int64_t reals = parts.epilogue->shape().reals;
  for_each_piece(c, parts.projections[0]->outputs(), context, [&](Columns piece) {
    const MatrixView<T> own =
        Z.block_cols((piece.begin - c.begin) * reals, (piece.end - c.begin) * reals);
    run_tiles(ProjectedTiles<View>(parts, columns, X, piece, own, watch), context);
  });
}

}  // namespace

template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z,
                     RowWatch<T>* watch) {
  apply_pieces(parts, columns, X, c, context, Z, watch);
}

template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z,
                     RowWatch<T>* watch) {
  apply_pieces(parts, columns, X, c, context, Z, watch);
}

#define MERCER_INSTANTIATE(T)                                                                      \
  template void apply_projected(const ProjectedParts&, const ColumnNumbers<T>&,                    \
                                MatrixView<const T>, Columns, Context&, MatrixView<T>,             \
                                RowWatch<T>*);                                                     \
  template void apply_projected(const ProjectedParts&, const ColumnNumbers<T>&, const CsrView<T>&, \
                                Columns, Context&, MatrixView<T>, RowWatch<T>*);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
