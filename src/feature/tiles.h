// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The loop over tiles of rows and columns. n rows times a range of columns are cut into tiles,
// which threads take in order, each with its own scratch. A TileWork says what a tile computes: a
// projection and an epilogue, or a tree of sketches (sketch.cpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "feature/feature_map.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"
#include "transform/epilogue.h"
#include "transform/row_prologue.h"
#include "transform/stream_copy.h"

namespace mercer::feature {

// A slice of the columns of a map whose features come in parts of F columns each ([cos | sin],
// [Re | Im], ...): which columns of a part it needs, and where they go in a row of Z.

class ColumnSlice {
 public:
  /// Columns c of `parts` parts of F columns, each column `reals` numbers.
  ColumnSlice(int64_t F, int parts, int reals, Columns c) noexcept
      : F_(F), parts_(parts), reals_(reals), c_(c) {}

  int parts() const noexcept { return parts_; }
  int reals() const noexcept { return reals_; }

  /// The columns [begin, end) of part p that are in the slice; begin = end: none.
  projection::Blocks part(int p) const noexcept {
    const int64_t begin = std::clamp(c_.begin - p * F_, int64_t{0}, F_);
    return {begin, std::clamp(c_.end - p * F_, begin, F_)};
  }
  /// The columns that some part needs, in one range.
  projection::Blocks hull() const noexcept {
    projection::Blocks all{F_, 0};
    for (int p = 0; p < parts_; ++p) {
      const projection::Blocks own = part(p);
      if (own.begin == own.end) continue;
      all = {std::min(all.begin, own.begin), std::max(all.end, own.end)};
    }
    return all;
  }
  /// Whether every part needs all of them.
  bool covers(projection::Blocks columns) const noexcept {
    for (int p = 0; p < parts_; ++p) {
      const projection::Blocks own = part(p);
      if (columns.begin < own.begin || own.end < columns.end) return false;
    }
    return true;
  }
  /// Numbers from the start of a row of Z to column j of part p, negative where that is not in it.
  int64_t offset(int p, int64_t j) const noexcept { return (p * F_ + j - c_.begin) * reals_; }
  /// Distance from a column of one part to the same column of the next.
  int64_t part_step() const noexcept { return F_ * reals_; }

 private:
  int64_t F_;
  int parts_;
  int reals_;
  Columns c_;
};

/// Calls body(piece) for c. If c takes the end of one part and the beginning of the next, and no
/// column of both, it is called for each side of the boundary, so that what lies between is not
/// computed. One stage of the context.
template <class Body>
void for_each_piece(Columns c, int64_t F, Context& context, const Body& body) {
  const int64_t cut = (c.begin / F + 1) * F;
  const bool apart = cut < c.end && c.end - F < c.begin;
  if (!apart) return body(c);
  Stage stage(context, c.end - c.begin);
  for (const Columns piece : {Columns{c.begin, cut}, Columns{cut, c.end}}) {
    stage.share(piece.end - piece.begin);
    body(piece);
    stage.advance(piece.end - piece.begin);
    context.checkpoint();
  }
}

/// How a call is cut into tiles. Blocks are the work's unit of columns.
struct TileCut {
  int64_t rows;               // of the call
  int64_t tile_rows;          // of a tile, >= 1
  projection::Blocks blocks;  // not empty
  int64_t tile_blocks;        // of a tile, >= 1
  int64_t scratch;            // bytes that one thread needs
};

/// Rows [i0, i1) and a range of the blocks.
struct Tile {
  int64_t i0;
  int64_t i1;
  projection::Blocks blocks;
  std::byte* scratch;  // 64-byte aligned
};

class TileWork {
 public:
  virtual ~TileWork() = default;
  /// Draws and packs what the columns need.
  virtual void prepare(Context& context) const = 0;
  virtual TileCut cut() const = 0;
  /// Called once for each thread's scratch, before its first tile.
  virtual void begin(std::byte* /*scratch*/) const noexcept {}
  virtual void run(const Tile& tile) const noexcept = 0;
};

/// Runs all tiles as one stage of the context, and charges scratch to it. Errors: OUT_OF_MEMORY,
/// CANCELLED, and those of prepare.
void run_tiles(const TileWork& work, Context& context);

/// Whether Z is written past the caches: too large to stay in them.
template <class T>
bool goes_around_caches(MatrixView<T> Z) noexcept {
  return Z.rows * Z.cols * static_cast<int64_t>(sizeof(T)) >= transform::kStreamBytes;
}

// The rows of a tile as a projection reads them: the caller's, or rewritten by the row prologue,
// with the numbers that the epilogue reads.

/// Tiles of dense rows. Scratch is in numbers, 64-byte aligned; a thread begins it once and uses it
/// for all its tiles.
template <class T>
class DenseTileRows {
 public:
  DenseTileRows(const transform::RowPrologue* prologue, MatrixView<const T> X,
                int64_t tile_rows) noexcept
      : prologue_(prologue), X_(X), tile_rows_(tile_rows) {}

  int64_t scratch() const;
  void begin(T* /*scratch*/) const noexcept {}
  /// Rows [i0, i1); the numbers of row i0 + i are at numbers + i row_numbers.
  MatrixView<const T> rows(int64_t i0, int64_t i1, T* scratch, T* numbers) const noexcept;

 private:
  const transform::RowPrologue* prologue_;  // may be null
  MatrixView<const T> X_;
  int64_t tile_rows_;
};

/// The same for sparse rows, with a prologue that keeps zeros: it sees the stored entries, those
/// stored twice added up.
template <class T>
class SparseTileRows {
 public:
  SparseTileRows(const transform::RowPrologue* prologue, const CsrView<T>& X, int64_t tile_rows);

  int64_t scratch() const;
  void begin(T* scratch) const noexcept;
  CsrView<T> rows(int64_t i0, int64_t i1, T* scratch, T* numbers) const noexcept;

 private:
  // Scratch: offsets of a tile, entries added up, entries rewritten, a row of zeros.
  int64_t offset_numbers() const;
  void add_up(int64_t i, T* zeros, T* entries) const noexcept;

  const transform::RowPrologue* prologue_;
  CsrView<T> X_;
  int64_t tile_rows_;
  int64_t most_entries_ = 0;  // of a tile
};

// How finished blocks of columns get into Z. A block that lies wholly inside the slice is finished
// in Z itself; one that the slice or the end of W cuts goes through a buffer. A Z too large for the
// caches is written past them in whole cache lines. Where Z does not start at a line (a NumPy
// array, say), the line that a block shares with the next is carried over: by the epilogue, or by
// the buffer for the first and the last block of a row.

/// Blocks of some rows, all parts, before they are in Z. Part p of row i begins at row(p, i), with
/// room for a cache line in front of it.
template <class T>
struct BlockBuffer {
  T* data;  // 64-byte aligned
  int64_t rows;
  int64_t numbers;  // in a row of one part, a multiple of a cache line

  int64_t ld() const noexcept { return numbers + transform::kLineNumbers<T>; }
  int64_t part_step() const noexcept { return rows * ld(); }
  T* row(int p, int64_t i) const noexcept {
    return data + p * part_step() + i * ld() + transform::kLineNumbers<T>;
  }
};

template <class T>
class ColumnStore {
 public:
  /// `carries`: whole blocks come from an epilogue that carries numbers over itself.
  ColumnStore(const ColumnSlice& slice, MatrixView<T> Z, bool carries = false) noexcept;

  /// Whether Z is written past the caches: then a tile is followed by transform::finish_streaming.
  bool streams() const noexcept { return streams_; }
  /// Whether these columns, all of a block, may be finished in Z itself; `run` are the columns that
  /// one thread writes from left to right.
  bool is_direct(projection::Blocks columns, projection::Blocks run) const noexcept {
    return slice_.covers(columns) && (carried() == 0 || (carries_ && is_inner(columns, run)));
  }
  /// Whether is_direct is false for every block.
  bool buffers_all() const noexcept { return carried() > 0 && !carries_; }
  T* target(int p, int64_t i, int64_t j) const noexcept { return Z_.row(i) + slice_.offset(p, j); }
  int64_t ld() const noexcept { return Z_.ld; }
  /// Numbers that a row carries from block to block.
  int64_t carried() const noexcept {
    return streams_ && !aligned_ ? slice_.parts() * transform::kLineNumbers<T> : 0;
  }

  /// Puts what rows [i0, i0 + buffer.rows) carry in front of their blocks; `carry` is that of row
  /// i0.
  void resume(const BlockBuffer<T>& buffer, const T* carry) const noexcept;
  /// Writes columns `block` of those rows to Z, except for what is carried; `run` are the columns
  /// that one thread writes from left to right.
  void put(const BlockBuffer<T>& buffer, projection::Blocks block, projection::Blocks run,
           int64_t i0, T* carry) const noexcept;

 private:
  bool is_aligned() const noexcept;
  bool has_carry_room() const noexcept;
  bool is_inner(projection::Blocks columns, projection::Blocks run) const noexcept;
  void put_part(int p, const BlockBuffer<T>& buffer, projection::Blocks block,
                projection::Blocks run, int64_t i0, T* carry) const noexcept;

  ColumnSlice slice_;
  MatrixView<T> Z_;
  bool streams_;
  bool aligned_;
  bool carries_;
};

// From projections to feature columns: tiles of rows go through the row prologue, blocks of columns
// through the projections and, while in cache, the epilogue; the wanted slice goes into Z.

// Amplitude and phase of the frequencies of a map, made block by block when first used, so that a
// map of two thousand million columns is made as fast as one of two.

/// Frequency j is multiplied by `scale`, or by sqrt(weight share(j)) if there are shares; its phase
/// is number j of the phase stream of `phase_seed`, if there is one, or phase(j).
struct ColumnLaw {
  double scale;
  double weight = 0;
  std::function<double(int64_t j)> share = {};
  std::optional<uint64_t> phase_seed = {};
  std::function<double(int64_t j)> phase = {};

  bool has_phases() const noexcept { return phase_seed || phase; }
};

template <class T>
class ColumnNumbers {
 public:
  /// F frequencies in blocks of `width`, a multiple of transform::kPanelColumns<T>.
  ColumnNumbers(int64_t F, int64_t width, const ColumnLaw& law);

  /// Makes the numbers of `blocks`, once; thread-safe; may fail and be retried.
  void prepare(projection::Blocks blocks, Context& context) const;

  /// The numbers of the frequencies of a prepared block, 64-byte aligned. Past the last frequency
  /// the scale is zero or arbitrary; without phases phase() is arbitrary.
  const T* scale(int64_t block) const noexcept { return numbers(block); }
  const T* phase(int64_t block) const noexcept {
    return numbers(block) + (law_.has_phases() ? group_columns() : 0);
  }

 private:
  // Without shares and phases all blocks are alike, and one is kept for all.
  bool is_uniform() const noexcept { return !law_.share && !law_.has_phases(); }
  int64_t group_columns() const noexcept { return width_ * together_; }
  const T* numbers(int64_t block) const noexcept {
    if (is_uniform()) return groups_[0].data();
    return groups_[block / together_].data() + block % together_ * width_;
  }
  AlignedBuffer<T> make_group(int64_t group) const;
  double scale_of(int64_t j) const noexcept;

  int64_t F_;
  int64_t width_;
  ColumnLaw law_;
  int64_t together_;  // blocks in a group
  mutable projection::LazyGroups<AlignedBuffer<T>> groups_;
};

/// The parts of a projected map. The bits of a row of Z depend on its row of X alone.
struct ProjectedParts {
  /// As many as the epilogue has factors, all from d inputs to F columns and of one block shape.
  std::vector<std::shared_ptr<const projection::Projection>> projections;
  std::shared_ptr<const transform::Epilogue> epilogue;
  ColumnLaw columns{1.0};  // scale and phase of the F columns
  /// Null: rows as they are. It also makes the row numbers that the epilogue reads.
  std::shared_ptr<const transform::RowPrologue> prologue = nullptr;
  /// Null, or what makes P of dense rows in place of the only projection, which differs by whole
  /// turns.
  std::shared_ptr<const projection::Projection> reduced = nullptr;

  /// What makes P of rows for a factor.
  const projection::Projection& of_rows(size_t factor) const noexcept {
    return reduced != nullptr ? *reduced : *projections[factor];
  }
};

/// Reports rows with a number beyond `most` in size, or NaN, as they are computed.
template <class T>
struct RowWatch {
  T most;
  std::atomic<bool> found{false};
};

/// Whether some |x[k]| > most, or is NaN, read as integers, whose order is the same.
template <class T>
bool goes_beyond(const T* x, int64_t count, T most) noexcept {
  using Integer = std::conditional_t<sizeof(T) == sizeof(float), int32_t, int64_t>;
  const auto limit = std::bit_cast<Integer>(most);
  Integer sign = 0;
  for (int64_t k = 0; k < count; ++k)
    sign |= limit - (std::bit_cast<Integer>(x[k]) & std::numeric_limits<Integer>::max());
  return sign < 0;
}
/// As above, for rows [i0, i1).
template <class T>
bool goes_beyond(MatrixView<const T> X, int64_t i0, int64_t i1, T most) noexcept {
  if (X.ld == X.cols) return goes_beyond(X.row(i0), (i1 - i0) * X.cols, most);
  for (int64_t i = i0; i < i1; ++i)
    if (goes_beyond(X.row(i), X.cols, most)) return true;
  return false;
}
template <class T>
bool goes_beyond(const CsrView<T>& X, int64_t i0, int64_t i1, T most) noexcept {
  return goes_beyond(X.values + X.begin(i0), X.begin(i1) - X.begin(i0), most);
}

/// Columns [c.begin, c.end) of the map for the rows of X.
template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z,
                     RowWatch<T>* watch = nullptr);

/// Columns [c.begin, c.end) for sparse rows, which every projection reads; the prologue, if any,
/// keeps zeros.
template <class T>
void apply_projected(const ProjectedParts& parts, const ColumnNumbers<T>& columns,
                     const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z,
                     RowWatch<T>* watch = nullptr);

}  // namespace mercer::feature
