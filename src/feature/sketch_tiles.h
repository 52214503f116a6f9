// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tiles of rows through a tree of sketches, with columns laid out as the field asks.
// Complex-to-real (Wacker, Ohana, Filippone 2023): the real part of a complex estimate is the inner
// product of [Re | Im].
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/size.h"
#include "feature/column_slice.h"
#include "feature/column_store.h"
#include "feature/sketch.h"
#include "feature/sketch_tree.h"
#include "feature/tile_loop.h"
#include "transform/product.h"

namespace mercer::feature {

/// Rows of Z in a tile, and rows that the tree sees at once.
struct SketchRows {
  int64_t tile;
  int64_t together;
};

/// body(i0, i1, range, planes, work) fills the planes with columns `range` of the tree for rows
/// [i0, i1) of Z.
template <class T, class Body>
class SketchTiles final : public TileWork {
 public:
  SketchTiles(const SketchTree& tree, SketchField field, SketchRows rows, Columns c,
              MatrixView<T> Z, const Body& body)
      : tree_(tree),
        rows_(rows),
        Z_(Z),
        body_(body),
        slice_(tree.root().columns(), field == SketchField::complex_to_real ? 2 : 1,
               field == SketchField::complex ? 2 : 1, c),
        store_(slice_, Z),
        range_(slice_.hull()),
        direct_(slice_.reals() == 1 && slice_.covers(range_)) {}

  void prepare(Context& context) const override { tree_.prepare<T>(range_, context); }

  TileCut cut() const override {
    const int64_t buffered = checked_multiply(buffer_numbers(), rows_.tile, kWhat);
    return {Z_.rows,
            rows_.tile,
            {0, 1},
            1,
            checked_add(workspace_bytes(), checked_multiply(buffered, sizeof(T), kWhat), kWhat)};
  }

  void begin(std::byte* scratch) const noexcept override { tree_.begin_workspace<T>(scratch); }

  void run(const Tile& tile) const noexcept override {
    const SketchTree::Workspace<T> work = tree_.workspace<T>(tile.scratch);
    const MatrixView<T> Z = Z_.block_rows(tile.i0, tile.i1);
    const BlockBuffer<T> buffer{reinterpret_cast<T*>(tile.scratch + workspace_bytes()), Z.rows,
                                round_up(width())};
    body_(tile.i0, tile.i1, range_, direct_ ? planes_of(Z) : planes_of(buffer), work);
    if (direct_) return;
    if (slice_.reals() == 2) return interleave(buffer, Z);
    store_.put(buffer, range_, range_, tile.i0, nullptr);
    if (store_.streams()) transform::finish_streaming();
  }

 private:
  static constexpr const char* kWhat = "a tile of Z";
  int64_t width() const noexcept { return range_.end - range_.begin; }
  int64_t workspace_bytes() const { return tree_.workspace_bytes<T>(rows_.together, width()); }
  // Numbers of a row, for both planes; none where the tree writes into Z.
  int64_t buffer_numbers() const noexcept {
    return direct_ ? 0 : 2 * (round_up(width()) + transform::kLineNumbers<T>);
  }

  projection::Planes<T> planes_of(MatrixView<T> Z) const noexcept {
    if (slice_.parts() == 1) return {Z, {}, store_.streams()};
    return {Z.block_cols(0, width()), Z.block_cols(width(), 2 * width()), store_.streams()};
  }
  projection::Planes<T> planes_of(const BlockBuffer<T>& buffer) const noexcept {
    return {{buffer.row(0, 0), buffer.rows, width(), buffer.ld()},
            {buffer.row(1, 0), buffer.rows, width(), buffer.ld()}};
  }

  void interleave(const BlockBuffer<T>& buffer, MatrixView<T> Z) const noexcept {
    for (int64_t i = 0; i < Z.rows; ++i)
      transform::interleave(buffer.row(0, i), buffer.row(1, i), width(), Z.row(i));
  }

  const SketchTree& tree_;
  SketchRows rows_;
  MatrixView<T> Z_;
  const Body& body_;
  ColumnSlice slice_;
  ColumnStore<T> store_;
  projection::Blocks range_;
  bool direct_;
};

}  // namespace mercer::feature
