// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sketches of any kind as power series along directions of their rows: trees of maps that are
// products of linear images (projection/multilinear.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/sketch.h"
#include "feature/sketch_tree.h"
#include "kernel/jet.h"
#include "transform/elements.h"

namespace mercer::feature {

/// A tree, the inputs of a row that kFirstInput reads, and how columns are laid out.
struct SketchParts {
  const SketchTree& tree;
  int64_t left;
  SketchField field;
};

/// The sizes that scratch depends on.
struct SeriesSize {
  int64_t rows;          // of a tile
  int64_t coefficients;  // of a jet
  int64_t variables;     // of a jet
  int64_t directions;    // rows of a direction: 1, the same for all, or as X
};

template <class T>
class SketchSeries {
 public:
  SketchSeries(const SketchParts& sketch, const SeriesSize& size);

  int64_t rows() const noexcept { return size_.rows; }
  /// The numbers of a thread's scratch, 64-byte aligned.
  int64_t numbers() const noexcept { return numbers_; }
  void prepare(Context& context) const;

  /// Begins a tile: computes its values.
  void begin(MatrixView<const T> X, T* scratch) const noexcept;
  /// Computes the derivative of order jet.p, variable v along directions[v], and begins a sum with
  /// it or adds it.
  void add(const kernel::Jet& jet, const MatrixView<const T>* directions, int64_t rows, bool begins,
           T* scratch) const noexcept;
  /// The columns of the sum, which is overwritten.
  void take(projection::Planes<T> Z, T* scratch) const noexcept;
  /// After begin: out = the cotangents of X, given the cotangents G of the columns. Overwrites the
  /// values.
  void pull(projection::Planes<const T> G, MatrixView<T> out, T* scratch) const noexcept;

 private:
  // Rows of `count` numbers, or of as many real parts and then imaginary ones.
  struct Shape {
    int64_t count;
    int64_t parts;
    int64_t stride() const noexcept { return (count * parts + 15) / 16 * 16; }
  };
  struct Node {
    const SketchNode* own;
    Shape image;
    Shape column;
    T share;
    int64_t values;   // offset of the images of its factors' rows, factor by factor
    int64_t columns;  // coefficient by coefficient; not of the root
    bool is_root;
    size_t factors() const noexcept { return own->children.size(); }
    // Whether its factors read nodes: all or none do.
    bool is_inner() const noexcept { return own->children[0] >= 0; }
    bool reads(size_t f) const noexcept { return own->map->shape().factors[f].inputs > 0; }
  };

  // Elements [begin, begin + n) of a row's series.
  struct Chunk {
    const Node& node;
    const kernel::Jet& jet;
    int64_t row;
    int64_t begin;
    int64_t n;
    int64_t width;  // from one coefficient's parts to the next
    T* scratch;
    T* series;

    transform::Elements<T> coefficient(int64_t c) const noexcept {
      T* const at = series + c * node.image.parts * width;
      return {at, node.image.parts == 2 ? at + width : nullptr};
    }
    transform::Elements<const T> known(int64_t c) const noexcept {
      const transform::Elements<T> own = coefficient(c);
      return {own.re, own.im};
    }
    transform::Elements<T> image(T* row) const noexcept {
      return {row + begin, node.image.parts == 2 ? row + node.image.count + begin : nullptr};
    }
  };
  // Series of a chunk stay in the first-level cache.
  static constexpr int64_t kChunkBytes = int64_t{16} << 10;
  static constexpr int64_t kMostElements = 512, kLeastElements = 16;

  int64_t add_numbers(int64_t rows, int64_t stride, int64_t matrices);
  // Calls body(chunk) for all of a node's row, with room for so many coefficients.
  template <class Body>
  void for_each_chunk(const Node& node, const kernel::Jet& jet, int64_t count, int64_t row,
                      T* scratch, const Body& body) const noexcept {
    const int64_t room = kChunkBytes / (2 * count * static_cast<int64_t>(sizeof(T)));
    const int64_t width = std::clamp(room / 16 * 16, kLeastElements, kMostElements);
    for (int64_t begin = 0; begin < node.image.count; begin += width) {
      const int64_t n = std::min(width, node.image.count - begin);
      body(Chunk{node, jet, row, begin, n, width, scratch, scratch + series_});
    }
  }
  // Images of a factor's motion: of all coefficients but the value, or of each variable.
  int64_t slots(const Node& node) const noexcept {
    return node.is_inner() ? size_.coefficients - 1 : size_.variables;
  }
  int64_t slot_rows(const Node& node) const noexcept {
    return node.is_inner() ? size_.rows : size_.directions;
  }
  projection::Planes<T> planes(T* at, const Shape& shape, int64_t rows) const noexcept {
    const MatrixView<T> all(at, rows, shape.parts * shape.count, shape.stride());
    return {all.block_cols(0, shape.count),
            shape.parts == 2 ? all.block_cols(shape.count, 2 * shape.count) : MatrixView<T>()};
  }
  // Images of factor f.
  T* values(const Node& node, size_t f, T* scratch) const noexcept {
    return scratch + node.values + static_cast<int64_t>(f) * size_.rows * node.image.stride();
  }
  T* moved(const Node& node, size_t f, int64_t slot, T* scratch) const noexcept;
  template <class U>
  MatrixView<U> leaf(int64_t child, MatrixView<U> X) const noexcept {
    return child == kFirstInput ? X.block_cols(0, sketch_.left)
                                : X.block_cols(sketch_.left, X.cols);
  }
  projection::Planes<T> child_columns(const Node& parent, size_t f, int64_t coefficient,
                                      int64_t rows, T* scratch) const noexcept;
  void move_inputs(const Node& node, const kernel::Jet& jet, const MatrixView<const T>* directions,
                   int64_t rows, T* scratch) const noexcept;
  void multiply(const Node& node, const kernel::Jet& jet, int64_t rows, bool begins,
                T* scratch) const noexcept;
  void multiply_coefficient(const Chunk& chunk, size_t f, int64_t c,
                            const transform::Elements<const T>& value) const noexcept;
  void multiply_chunk(const Chunk& chunk) const noexcept;
  template <class Body>
  void for_each_coefficient(const Chunk& chunk, size_t f, int64_t c,
                            const Body& body) const noexcept;
  void keep(const Chunk& chunk, bool begins) const noexcept;
  void pull_chunk(const Chunk& chunk, const transform::Elements<T>& h) const noexcept;
  void pull_products(const Node& node, const projection::Planes<T>& h, T* scratch) const noexcept;
  void pull_inputs(const Node& node, MatrixView<T> out, T* scratch) const noexcept;

  SketchParts sketch_;
  SeriesSize size_;
  std::vector<Node> nodes_;
  kernel::Jet value_{kernel::MultiIndex{}};
  int64_t numbers_ = 0;
  int64_t moved_ = 0;     // images of one node's directions or coefficients
  int64_t products_ = 0;  // of one node that is not the root, coefficient by coefficient
  int64_t sum_ = 0;       // at the root
  int64_t series_ = 0;    // of a chunk of a row's elements
  int64_t scratch_ = 0;   // of maps
};

}  // namespace mercer::feature
