// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How finished blocks of columns get into Z. A block that lies wholly inside the slice is finished
// in Z itself; one that the slice or the end of W cuts goes through a buffer. A Z too large for the
// caches is written past them in whole cache lines. Where Z does not start at a line (a NumPy
// array, say), the line that a block shares with the next is carried over: by the epilogue, or by
// the buffer for the first and the last block of a row.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"
#include "feature/column_slice.h"
#include "feature/tile_loop.h"
#include "transform/stream_copy.h"

namespace mercer::feature {

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

}  // namespace mercer::feature
