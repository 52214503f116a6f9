// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The loop over tiles of rows and columns. n rows times a range of columns are cut into tiles,
// which threads take in order, each with its own scratch. A TileWork says what a tile computes: a
// projection and an epilogue (projected_tiles.h), a tree of sketches (sketch.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/context.h"
#include "base/matrix_view.h"
#include "projection/projection.h"
#include "transform/stream_copy.h"

namespace mercer::feature {

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

}  // namespace mercer::feature
