// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The loop that every map of rows runs in: n rows times a range of columns are cut into tiles,
// which threads take in order, each with scratch of its own. What a tile is made of is the work's
// business: a projection and an epilogue (projected_tiles.h) or a tree of sketches (sketch.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/context.h"
#include "base/matrix_view.h"
#include "projection/projection.h"
#include "transform/stream_copy.h"

namespace mercer::feature {

/// How a call is cut. Blocks are the work's unit of columns.
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
  /// Once for every thread's scratch, before its first tile.
  virtual void begin(std::byte* /*scratch*/) const noexcept {}
  virtual void run(const Tile& tile) const noexcept = 0;
};

/// Runs all tiles, as one stage of the context. Charges scratch to it. Errors: OUT_OF_MEMORY,
/// CANCELLED, and what prepare throws.
void run_tiles(const TileWork& work, Context& context);

/// Whether Z is written around the caches: too large to stay in them.
template <class T>
bool goes_around_caches(MatrixView<T> Z) noexcept {
  return Z.rows * Z.cols * static_cast<int64_t>(sizeof(T)) >= transform::kStreamBytes;
}

}  // namespace mercer::feature
