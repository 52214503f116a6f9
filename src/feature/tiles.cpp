// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "feature/tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/aligned.h"
#include "base/parallel.h"
#include "base/size.h"
#include "base/views.h"
#include "random/distributions.h"
#include "random/stream.h"
#include "transform/epilogue.h"
#include "transform/panel.h"

namespace mercer::feature {
namespace {

// Drawing and packing on first use counts as one tile in so many.
constexpr int64_t kPreparing = 8;
constexpr const char* kTilesOfThreads = "the tiles of all threads";

constexpr const char* kTileOfRows = "a tile of rows";

// A tile is some rows times a range of the projections' blocks, done block by block, so that a
// block of W stays in cache while the rows pass over it.

// Narrow blocks are made in groups of about so many columns.
constexpr int64_t kGroupColumns = 4096;

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

void run_tiles(const TileWork& work, Context& context) {
  const TileCut cut = work.cut();
  const int64_t blocks = cut.blocks.end - cut.blocks.begin;
  const int64_t ranges = ceil_divide(blocks, cut.tile_blocks);
  const int64_t tiles =
      checked_multiply(ceil_divide(cut.rows, cut.tile_rows), ranges, kTilesOfThreads);
  const int64_t preparing = tiles / kPreparing + 1;
  Stage stage(context, checked_add(preparing, tiles, kTilesOfThreads));
  stage.share(preparing);
  work.prepare(context);
  stage.advance(preparing);
  const int workers = worker_count(context, tiles);
  const int64_t line = static_cast<int64_t>(kAlignment);
  const int64_t each = checked_add(cut.scratch, line - 1, kTilesOfThreads) / line * line;
  const int64_t total = checked_multiply(workers, each, kTilesOfThreads);
  const MemoryCharge charge = context.charge(total, kTilesOfThreads);
  const AlignedBuffer<std::byte> scratch(total);
  for (int worker = 0; worker < workers; ++worker) work.begin(scratch.data() + worker * each);
  stage.share(tiles);
  parallel_for(context, tiles, [&](int64_t chunk, int worker) noexcept {
    const int64_t i0 = chunk / ranges * cut.tile_rows;
    const int64_t first = cut.blocks.begin + chunk % ranges * cut.tile_blocks;
    work.run({i0,
              std::min(i0 + cut.tile_rows, cut.rows),
              {first, std::min(first + cut.tile_blocks, cut.blocks.end)},
              scratch.data() + worker * each});
  });
  stage.advance(tiles);
  context.checkpoint();
}

template <class T>
int64_t DenseTileRows<T>::scratch() const {
  if (prologue_ == nullptr || !prologue_->shape().rewrites) return 0;
  return checked_multiply(std::min(tile_rows_, X_.rows), X_.cols, kTileOfRows);
}

template <class T>
MatrixView<const T> DenseTileRows<T>::rows(int64_t i0, int64_t i1, T* scratch,
                                           T* numbers) const noexcept {
  const MatrixView<const T> X = X_.block_rows(i0, i1);
  if (prologue_ == nullptr) return X;
  const transform::PrologueShape& shape = prologue_->shape();
  for (int64_t i = 0; i < X.rows; ++i) {
    T* const out = shape.rewrites ? scratch + i * X.cols : nullptr;
    prologue_->run(X.row(i), X.cols, out, numbers + i * shape.row_numbers);
  }
  return shape.rewrites ? MatrixView<const T>(scratch, X.rows, X.cols) : X;
}

template <class T>
SparseTileRows<T>::SparseTileRows(const transform::RowPrologue* prologue, const CsrView<T>& X,
                                  int64_t tile_rows)
    : prologue_(prologue), X_(X), tile_rows_(tile_rows) {
  if (prologue == nullptr) return;
  for (int64_t i = 0; i < X.rows; i += tile_rows)
    most_entries_ =
        std::max(most_entries_, X.offsets[std::min(i + tile_rows, X.rows)] - X.begin(i));
}

template <class T>
int64_t SparseTileRows<T>::offset_numbers() const {
  constexpr auto kWords = static_cast<int64_t>(sizeof(int64_t) / sizeof(T));
  return round_up((tile_rows_ + 1) * kWords);
}

template <class T>
int64_t SparseTileRows<T>::scratch() const {
  if (prologue_ == nullptr) return 0;
  const int64_t entries = checked_multiply(2, round_up(most_entries_), kTileOfRows);
  return checked_add(offset_numbers(), checked_add(entries, X_.cols, kTileOfRows), kTileOfRows);
}

template <class T>
void SparseTileRows<T>::begin(T* scratch) const noexcept {
  if (prologue_ == nullptr) return;
  T* const zeros = scratch + offset_numbers() + 2 * round_up(most_entries_);
  std::fill_n(zeros, X_.cols, T{0});
}

// The first stored entry of a column gets the sum of all its entries, the others 0; the row of
// zeros is zeros again.
template <class T>
void SparseTileRows<T>::add_up(int64_t i, T* zeros, T* entries) const noexcept {
  add_row(X_, i, zeros);
  X_.indices.visit([&](const auto* indices) {
    for (int64_t p = X_.begin(i); p < X_.end(i); ++p) {
      *entries++ = zeros[indices[p]];
      zeros[indices[p]] = T{0};
    }
  });
}

template <class T>
CsrView<T> SparseTileRows<T>::rows(int64_t i0, int64_t i1, T* scratch, T* numbers) const noexcept {
  const CsrView<T> X = X_.block_rows(i0, i1);
  if (prologue_ == nullptr) return X;
  const transform::PrologueShape& shape = prologue_->shape();
  const int64_t first = X.begin(0);
  auto* const offsets = reinterpret_cast<int64_t*>(scratch);
  T* const entries = scratch + offset_numbers();
  T* const rewritten = entries + round_up(most_entries_);
  T* const zeros = rewritten + round_up(most_entries_);
  for (int64_t i = 0; i < X.rows; ++i) {
    const int64_t at = X.begin(i) - first;
    offsets[i] = at;
    add_up(i0 + i, zeros, entries + at);
    prologue_->run(entries + at, X.end(i) - X.begin(i), shape.rewrites ? rewritten + at : nullptr,
                   numbers + i * shape.row_numbers);
  }
  offsets[X.rows] = X.offsets[X.rows] - first;
  if (!shape.rewrites) return X;
  return {X.rows, X.cols, offsets, X.indices.from(first), rewritten};
}

template class DenseTileRows<float>;
template class DenseTileRows<double>;
template class SparseTileRows<float>;
template class SparseTileRows<double>;

using projection::Blocks;
using transform::into_line;
using transform::kLineNumbers;

template <class T>
ColumnStore<T>::ColumnStore(const ColumnSlice& slice, MatrixView<T> Z, bool carries) noexcept
    : slice_(slice),
      Z_(Z),
      streams_(goes_around_caches(Z)),
      aligned_(is_aligned()),
      carries_(carries && has_carry_room()) {}

// Blocks are whole lines, so what holds for column 0 of every part holds for all blocks.
template <class T>
bool ColumnStore<T>::is_aligned() const noexcept {
  bool ok = reinterpret_cast<uintptr_t>(Z_.data) % 64 == 0 && Z_.ld % kLineNumbers<T> == 0;
  for (int p = 0; p < slice_.parts(); ++p) ok = ok && slice_.offset(p, 0) % kLineNumbers<T> == 0;
  return ok;
}

// If vectors are whole lines, rows may begin anywhere; otherwise all at one place of a line.
template <class T>
bool ColumnStore<T>::has_carry_room() const noexcept {
  const int64_t room = transform::carry_room(T{});
  bool ok = room == kLineNumbers<T> || Z_.ld % kLineNumbers<T> == 0;
  for (int p = 0; p < slice_.parts(); ++p) ok = ok && into_line(target(p, 0, 0)) < room;
  return ok;
}

// A line or more of every part's row comes before, and its end after the columns.
template <class T>
bool ColumnStore<T>::is_inner(Blocks columns, Blocks run) const noexcept {
  bool inner = true;
  for (int p = 0; p < slice_.parts(); ++p) {
    const Blocks own = slice_.part(p);
    const int64_t before = (columns.begin - std::max(run.begin, own.begin)) * slice_.reals();
    inner = inner && before >= kLineNumbers<T> && columns.end < std::min(run.end, own.end);
  }
  return inner;
}

template <class T>
void ColumnStore<T>::resume(const BlockBuffer<T>& buffer, const T* carry) const noexcept {
  if (carried() == 0) return;
  for (int p = 0; p < slice_.parts(); ++p) {
    for (int64_t i = 0; i < buffer.rows; ++i) {
      std::copy_n(carry + i * carried() + p * kLineNumbers<T>, kLineNumbers<T>,
                  buffer.row(p, i) - kLineNumbers<T>);
    }
  }
}

template <class T>
void ColumnStore<T>::put(const BlockBuffer<T>& buffer, Blocks block, Blocks run, int64_t i0,
                         T* carry) const noexcept {
  for (int p = 0; p < slice_.parts(); ++p) put_part(p, buffer, block, run, i0, carry);
}

template <class T>
void ColumnStore<T>::put_part(int p, const BlockBuffer<T>& buffer, Blocks block, Blocks run,
                              int64_t i0, T* carry) const noexcept {
  const Blocks own = slice_.part(p);
  const int64_t begin = std::max(block.begin, own.begin), end = std::min(block.end, own.end);
  if (begin >= end) return;
  const int64_t count = (end - begin) * slice_.reals();
  const T* const from = buffer.row(p, 0) + (begin - block.begin) * slice_.reals();
  T* const to = target(p, i0, begin);
  if (!streams_) {
    for (int64_t i = 0; i < buffer.rows; ++i)
      std::copy_n(from + i * buffer.ld(), count, to + i * Z_.ld);
    return;
  }
  // Blocks that go directly into an aligned Z carry nothing: each block that is cut is a run of its
  // own.
  const int64_t before =
      carried() == 0 ? 0 : (begin - std::max(run.begin, own.begin)) * slice_.reals();
  const bool last = carried() == 0 || end == std::min(run.end, own.end);
  transform::stream_piece({from, buffer.ld(), to, Z_.ld, buffer.rows, count, before, last});
  if (last) return;
  for (int64_t i = 0; i < buffer.rows; ++i) {
    std::copy_n(buffer.row(p, i) + buffer.numbers - kLineNumbers<T>, kLineNumbers<T>,
                carry + i * carried() + p * kLineNumbers<T>);
  }
}

template class ColumnStore<float>;
template class ColumnStore<double>;

template <class T>
ColumnNumbers<T>::ColumnNumbers(int64_t F, int64_t width, const ColumnLaw& law)
    : F_(F),
      width_(width),
      law_(law),
      together_(is_uniform() ? 1 : std::max<int64_t>(1, std::min(kGroupColumns, F) / width)),
      groups_(is_uniform() ? 1 : ceil_divide(ceil_divide(F, width), together_)) {}

template <class T>
void ColumnNumbers<T>::prepare(projection::Blocks blocks, Context& context) const {
  const projection::Blocks groups =
      is_uniform()
          ? projection::Blocks{0, 1}
          : projection::Blocks{blocks.begin / together_, ceil_divide(blocks.end, together_)};
  const int64_t numbers = (law_.has_phases() ? 2 : 1) * group_columns();
  const projection::GroupCost cost{
      checked_multiply(numbers, static_cast<int64_t>(sizeof(T)), "columns"), 0,
      "the scales of some columns"};
  groups_.require_room(groups, cost, context);
  for (int64_t g = groups.begin; g < groups.end; ++g)
    groups_.prepare(g, cost, context, [this](int64_t group) { return make_group(group); });
}

template <class T>
double ColumnNumbers<T>::scale_of(int64_t j) const noexcept {
  if (!law_.share) return law_.scale;
  return j < F_ ? std::sqrt(law_.weight * law_.share(j)) : 0;
}

template <class T>
AlignedBuffer<T> ColumnNumbers<T>::make_group(int64_t group) const {
  const int64_t columns = group_columns(), j0 = group * columns;
  if (is_uniform()) {
    AlignedBuffer<T> alike(columns);
    std::fill(alike.begin(), alike.end(), static_cast<T>(scale_of(0)));
    return alike;
  }
  AlignedBuffer<T> numbers((law_.has_phases() ? 2 : 1) * columns);
  for (int64_t j = 0; j < columns; ++j) numbers[j] = static_cast<T>(scale_of(j0 + j));
  for (int64_t j = 0; law_.phase && j < columns; ++j)
    numbers[columns + j] = static_cast<T>(j0 + j < F_ ? law_.phase(j0 + j) : 0);
  if (!law_.phase_seed) return numbers;
  const random::Stream stream(*law_.phase_seed, random::Tag::phase, 0);
  std::array<double, 256> turns;
  for (int64_t j = 0; j < columns;) {
    const int64_t count = std::min<int64_t>(columns - j, std::ssize(turns));
    // b_j = 2 pi u_j with u_j number j of the phase stream.
    random::fill_uniform(stream, static_cast<uint64_t>(j0 + j), std::span(turns.data(), count));
    for (int64_t i = 0; i < count; ++i, ++j) numbers[columns + j] = static_cast<T>(turns[i]);
  }
  return numbers;
}

template class ColumnNumbers<float>;
template class ColumnNumbers<double>;

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
