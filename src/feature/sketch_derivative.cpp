// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tiles of rows. Their values are computed once; then for every block of a derivative the series
// along unit vectors, the same for all rows; for a product with the Jacobian the series of order 1
// along a direction of each row; for one with its transpose cotangents go back through the tree.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/context.h"
#include "base/size.h"
#include "base/views.h"
#include "feature/sketch.h"
#include "feature/sketch_tree.h"
#include "feature/tiles.h"
#include "kernel/jet.h"
#include "transform/elements.h"

namespace mercer::feature {
namespace {

// Sketches of any kind as power series along directions of their rows: trees of maps that are
// products of linear images (projection/sketch_kind.h).

// The sizes that scratch depends on.
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
  // The numbers of a thread's scratch, 64-byte aligned.
  int64_t numbers() const noexcept { return numbers_; }
  void prepare(Context& context) const;

  // Begins a tile: computes its values.
  void begin(MatrixView<const T> X, T* scratch) const noexcept;
  // Computes the derivative of order jet.p, variable v along directions[v], and begins a sum with
  // it or adds it.
  void add(const kernel::Jet& jet, const MatrixView<const T>* directions, int64_t rows, bool begins,
           T* scratch) const noexcept;
  // The columns of the sum, which is overwritten.
  void take(projection::Planes<T> Z, T* scratch) const noexcept;
  // After begin: out = the cotangents of X, given the cotangents G of the columns. Overwrites the
  // values.
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

// A factor of a leaf is affine in the variables, that of an inner node is itself a series. Both are
// multiplied into the product of the factors before, coefficient by coefficient, last first, so
// that coefficients still to be read are unchanged (Griewank, Walther 2008, chapter 13). Nothing is
// divided, so factors may vanish; directions are mapped by linear images only, so they keep their
// digits beside any constant. Nodes are in order: a series exists before it is read.
using kernel::Jet;
using projection::FactorRows;
using projection::Planes;
using transform::Elements;

constexpr const char* kSeriesOfSketches = "the series of a tile of sketches";

template <class T>
int64_t SketchSeries<T>::add_numbers(int64_t rows, int64_t stride, int64_t matrices) {
  const int64_t at = numbers_;
  const int64_t each = checked_multiply(rows, stride, kSeriesOfSketches);
  numbers_ =
      checked_add(numbers_, checked_multiply(each, matrices, kSeriesOfSketches), kSeriesOfSketches);
  return at;
}

template <class T>
SketchSeries<T>::SketchSeries(const SketchParts& sketch, const SeriesSize& size)
    : sketch_(sketch), size_(size) {
  int64_t most = size.coefficients, moved = 0, products = 0, scratch = 0;
  for (const SketchNode& one : sketch.tree.nodes()) {
    const projection::ImageShape images = one.map->images();
    const bool is_root = &one == &sketch.tree.nodes().back();
    Node node{&one,
              {images.elements, images.complex ? 2 : 1},
              {one.map->columns(), one.map->is_complex() ? 2 : 1},
              static_cast<T>(images.share),
              0,
              0,
              is_root};
    const auto factors = static_cast<int64_t>(node.factors());
    most = std::max(most, factors);
    node.values = add_numbers(size.rows, node.image.stride(), factors);
    if (!is_root) node.columns = add_numbers(size.rows, node.column.stride(), size.coefficients);
    const int64_t moves =
        checked_multiply(factors, slots(node) * slot_rows(node), kSeriesOfSketches);
    moved = std::max(moved, checked_multiply(moves, node.image.stride(), kSeriesOfSketches));
    if (!is_root) products = std::max(products, node.image.stride());
    scratch = std::max(scratch, one.map->image_scratch(size.rows));
    nodes_.push_back(node);
  }
  moved_ = add_numbers(1, moved, 1);
  products_ = add_numbers(size.rows, products, size.coefficients);
  sum_ = add_numbers(size.rows, nodes_.back().image.stride(), 1);
  series_ = add_numbers(1,
                        std::max(kChunkBytes / static_cast<int64_t>(sizeof(T)),
                                 checked_multiply(2 * kLeastElements, most, kSeriesOfSketches)),
                        1);
  scratch_ = add_numbers(1, scratch, 1);
}

template <class T>
void SketchSeries<T>::prepare(Context& context) const {
  for (const Node& node : nodes_) node.own->map->prepare_images(T{}, context);
}

template <class T>
T* SketchSeries<T>::moved(const Node& node, size_t f, int64_t slot, T* scratch) const noexcept {
  const int64_t matrix = static_cast<int64_t>(f) * slots(node) + slot;
  return scratch + moved_ + matrix * slot_rows(node) * node.image.stride();
}

template <class T>
Planes<T> SketchSeries<T>::child_columns(const Node& parent, size_t f, int64_t coefficient,
                                         int64_t rows, T* scratch) const noexcept {
  const Node& child = nodes_[parent.own->children[f]];
  T* const at = scratch + child.columns + coefficient * size_.rows * child.column.stride();
  const Shape as_real{child.column.count * child.column.parts, 1};
  return planes(at, parent.own->children_as_real ? as_real : child.column, rows);
}

template <class T>
void SketchSeries<T>::begin(MatrixView<const T> X, T* scratch) const noexcept {
  for (const Node& node : nodes_) {
    for (size_t f = 0; f < node.factors(); ++f) {
      FactorRows<T> rows{{{nullptr, X.rows, 0}, {}}, nullptr};
      if (node.is_inner()) {
        const Planes<T> below = child_columns(node, f, 0, X.rows, scratch);
        rows.dense = {below.re, below.im};
      } else if (node.reads(f)) {
        rows.dense.re = leaf(node.own->children[f], X);
      }
      node.own->map->image(f, rows, false, planes(values(node, f, scratch), node.image, X.rows),
                           scratch + scratch_);
    }
    if (!node.is_root) multiply(node, value_, X.rows, true, scratch);
  }
}

template <class T>
void SketchSeries<T>::add(const Jet& jet, const MatrixView<const T>* directions, int64_t rows,
                          bool begins, T* scratch) const noexcept {
  for (const Node& node : nodes_) {
    move_inputs(node, jet, directions, rows, scratch);
    multiply(node, jet, rows, begins, scratch);
  }
}

template <class T>
void SketchSeries<T>::move_inputs(const Node& node, const Jet& jet,
                                  const MatrixView<const T>* directions, int64_t rows,
                                  T* scratch) const noexcept {
  const auto move = [&](size_t f, int64_t slot, const FactorRows<T>& inputs) {
    const Planes<T> out = planes(moved(node, f, slot, scratch), node.image, inputs.dense.re.rows);
    node.own->map->image(f, inputs, true, out, scratch + scratch_);
  };
  for (size_t f = 0; f < node.factors(); ++f) {
    if (node.is_inner()) {
      for (int64_t c = 1; c < jet.count; ++c) {
        const Planes<T> below = child_columns(node, f, c, rows, scratch);
        move(f, c - 1, {{below.re, below.im}, nullptr});
      }
    } else if (node.reads(f)) {
      for (size_t v = 0; v < jet.p.size(); ++v)
        move(f, static_cast<int64_t>(v),
             {{leaf(node.own->children[f], directions[v]), {}}, nullptr});
    }
  }
}

// Calls body(a, image) for the coefficients a > 0 of factor f that divide c.
template <class T>
template <class Body>
void SketchSeries<T>::for_each_coefficient(const Chunk& chunk, size_t f, int64_t c,
                                           const Body& body) const noexcept {
  const Node& node = chunk.node;
  const Jet& jet = chunk.jet;
  const auto image = [&](int64_t slot, int64_t row) {
    const Elements<T> own =
        chunk.image(moved(node, f, slot, chunk.scratch) + row * node.image.stride());
    return Elements<const T>{own.re, own.im};
  };
  if (node.is_inner()) {
    for (int64_t a = 1; a <= c; ++a)
      if (jet.divides(a, c)) body(a, image(a - 1, chunk.row));
  } else if (node.reads(f)) {
    for (size_t v = 0; v < jet.p.size(); ++v)
      if (jet.exponent(v, c) > 0)
        body(jet.steps[v], image(static_cast<int64_t>(v), size_.directions == 1 ? 0 : chunk.row));
  }
}

// Coefficient c of the product up to factor f, given the product before it.
template <class T>
void SketchSeries<T>::multiply_coefficient(const Chunk& chunk, size_t f, int64_t c,
                                           const Elements<const T>& value) const noexcept {
  const Elements<T> to = chunk.coefficient(c);
  bool is_scaled = false;
  for_each_coefficient(chunk, f, c, [&](int64_t a, const Elements<const T>& by) {
    if (is_scaled) return transform::add_products({to, chunk.n, chunk.known(c - a), by});
    transform::multiply_and_add({to, chunk.n, chunk.known(c - a), by, value});
    is_scaled = true;
  });
  if (!is_scaled) transform::multiply_elements({to, chunk.n, value});
}

template <class T>
void SketchSeries<T>::multiply_chunk(const Chunk& chunk) const noexcept {
  const Node& node = chunk.node;
  const int64_t last = chunk.jet.count - 1, n = chunk.n;
  for (size_t f = 0; f < node.factors(); ++f) {
    const Elements<T> own =
        chunk.image(values(node, f, chunk.scratch) + chunk.row * node.image.stride());
    const Elements<const T> value{own.re, own.im};
    // Only the last coefficient of the root is needed.
    const int64_t least = node.is_root && f + 1 == node.factors() ? last : 0;
    for (int64_t c = last; c >= least; --c) {
      const Elements<T> to = chunk.coefficient(c);
      if (f > 0) {
        multiply_coefficient(chunk, f, c, value);
        continue;
      }
      Elements<const T> first = c == 0 ? value : Elements<const T>{};
      for_each_coefficient(chunk, f, c, [&](int64_t a, const Elements<const T>& by) {
        if (a == c) first = by;
      });
      if (first.re != nullptr) {
        transform::scale_elements({.to = to, .n = n, .a = first, .scale = node.share});
        continue;
      }
      for (int64_t part = 0; part < node.image.parts; ++part)
        std::fill_n(to.re + part * chunk.width, n, T{0});
    }
  }
}

// Makes columns from products row by row; the root's are summed.
template <class T>
void SketchSeries<T>::keep(const Chunk& chunk, bool begins) const noexcept {
  const Node& node = chunk.node;
  const int64_t stride = node.image.stride(), parts = node.image.parts;
  const auto place = [&](int64_t matrix, int64_t at) {
    return chunk.scratch + at + (matrix * size_.rows + chunk.row) * stride + chunk.begin;
  };
  if (node.is_root) {
    const int64_t last = chunk.jet.count - 1;
    const T factorial = static_cast<T>(chunk.jet.factorial);
    for (int64_t part = 0; part < parts; ++part) {
      T* const sum = place(0, sum_) + part * node.image.count;
      const T* const from = chunk.series + (last * parts + part) * chunk.width;
      if (begins) {
        for (int64_t j = 0; j < chunk.n; ++j) sum[j] = factorial * from[j];
      } else {
        for (int64_t j = 0; j < chunk.n; ++j) sum[j] += factorial * from[j];
      }
    }
    return;
  }
  for (int64_t c = 0; c < chunk.jet.count; ++c)
    for (int64_t part = 0; part < parts; ++part)
      std::copy_n(chunk.series + (c * parts + part) * chunk.width, chunk.n,
                  place(c, products_) + part * node.image.count);
}

template <class T>
void SketchSeries<T>::multiply(const Node& node, const Jet& jet, int64_t rows, bool begins,
                               T* scratch) const noexcept {
  for (int64_t i = 0; i < rows; ++i)
    for_each_chunk(node, jet, jet.count, i, scratch, [&](const Chunk& chunk) noexcept {
      multiply_chunk(chunk);
      keep(chunk, begins);
    });
  if (node.is_root) return;
  for (int64_t c = jet.count > 1 ? 1 : 0; c < jet.count; ++c) {
    const Planes<T> from =
        planes(scratch + products_ + c * size_.rows * node.image.stride(), node.image, rows);
    node.own->map->back(
        {from.re, from.im},
        planes(scratch + node.columns + c * size_.rows * node.column.stride(), node.column, rows),
        scratch + scratch_);
  }
}

template <class T>
void SketchSeries<T>::take(Planes<T> Z, T* scratch) const noexcept {
  const Node& root = nodes_.back();
  const Planes<T> from = planes(scratch + sum_, root.image, Z.re.rows);
  root.own->map->back({from.re, from.im}, Z, scratch + scratch_);
}

// From the cotangents of a tree's columns to those of its rows, last node first (Griewank, Walther
// 2008, chapter 3). For a product share z_1 ... z_p with cotangent h, that of z_f is h times the
// conjugate of the other factors: those before f are multiplied first, and h is multiplied by those
// after f on the way. It overwrites z_f.
using projection::Planes;
using transform::Elements;

template <class T>
Elements<const T> constant(const Elements<T>& own) noexcept {
  return {own.re, own.im};
}

using kernel::Jet;
using projection::Planes;

constexpr const char* kSketchDerivatives = "the derivatives of a tile of sketches";
// Rows of a tile: enough to share unit vectors, few enough for the second-level cache.
constexpr int64_t kMostTileRows = 32;
constexpr int64_t kSketchBytes = int64_t{1} << 20;
// Tiles that a small call is cut into.
constexpr int64_t kLeastSketchTiles = 8;
constexpr int64_t kOfEachRow = 0;  // of directions

/// A block of a derivative: the sum of the series' last coefficients, times their factorials.
struct SeriesBlock {
  std::vector<Jet> sum;
};

/// UNSUPPORTED: too many coefficients.
std::vector<SeriesBlock> series_of(const Derivative& what, int64_t d) {
  std::vector<SeriesBlock> blocks;
  for (const std::vector<MultiIndex>& sum : partials_of(what, d)) {
    blocks.emplace_back();
    for (const MultiIndex& p : sum) blocks.back().sum.emplace_back(p);
  }
  return blocks;
}

int64_t most_coefficients(const std::vector<SeriesBlock>& blocks) noexcept {
  int64_t most = 1;
  for (const SeriesBlock& block : blocks)
    for (const Jet& series : block.sum) most = std::max(most, series.count);
  return most;
}

int64_t row_length(const SketchParts& sketch) noexcept {
  return sketch.tree.root().columns() * (sketch.tree.root().is_complex() ? 2 : 1);
}

template <class T>
SketchSeries<T> fitting_series(const SketchParts& sketch, int64_t n, SeriesSize moves) {
  const bool shared = moves.directions != kOfEachRow;
  moves.rows = moves.directions = 1;
  const int64_t bytes =
      checked_multiply(SketchSeries<T>(sketch, moves).numbers(), sizeof(T), kSketchDerivatives);
  const int64_t share = ceil_divide(n, kLeastSketchTiles);
  moves.rows = std::clamp(std::min(kSketchBytes / bytes, share), int64_t{1}, kMostTileRows);
  if (!shared) moves.directions = moves.rows;
  return {sketch, moves};
}

int64_t most_variables(const std::vector<SeriesBlock>& blocks) noexcept {
  size_t most = 1;
  for (const SeriesBlock& block : blocks)
    for (const Jet& series : block.sum) most = std::max(most, series.p.size());
  return static_cast<int64_t>(most);
}

/// Scratch of a thread: unit vectors, and the columns of a tile.
struct TileRoom {
  int64_t inputs;
  int64_t units;
  int64_t columns;  // of a row
  int64_t rows;

  int64_t numbers() const {
    return checked_add(checked_multiply(units, inputs, kSketchDerivatives),
                       checked_multiply(rows, columns, kSketchDerivatives), kSketchDerivatives);
  }
};

/// Rows of a tile whose values have been computed.
template <class T>
class SketchTile {
 public:
  SketchTile(const SketchParts& sketch, const SketchSeries<T>& series, const TileRoom& room,
             MatrixView<const T> X, T* scratch)
      : sketch_(sketch), series_(series), room_(room), X_(X), scratch_(scratch) {
    series.begin(X, scratch);
  }

  int64_t rows() const noexcept { return X_.rows; }

  /// Begins a sum with the derivative of that order in inputs, or adds it.
  void add(const Jet& jet, bool begins) const noexcept {
    MatrixView<const T> units[kMostVariables];
    for (size_t v = 0; v < jet.p.size(); ++v) {
      T* const unit = own() + static_cast<int64_t>(v) * room_.inputs;
      std::fill_n(unit, X_.cols, T{0});
      unit[jet.p[v].input] = 1;
      units[v] = {unit, 1, X_.cols};
    }
    series_.add(jet, units, rows(), begins, scratch_);
  }
  /// Begins it with the derivative along a direction of each row.
  void begin_along(const Jet& first, const MatrixView<const T>& V) const noexcept {
    series_.add(first, &V, rows(), true, scratch_);
  }
  /// The sum as rows of the map; if it goes around the caches, the caller finishes the streaming.
  void take(MatrixView<T> out, bool around_caches = false) const noexcept {
    const int64_t m = root().columns();
    const auto halves = [&](MatrixView<T> all, bool streams) {
      return Planes<T>{all.block_cols(0, m),
                       root().is_complex() ? all.block_cols(m, 2 * m) : MatrixView<T>(), streams};
    };
    if (sketch_.field != SketchField::complex)
      return series_.take(halves(out, around_caches), scratch_);
    const Planes<T> apart = halves(columns(), false);
    series_.take(apart, scratch_);
    for (int64_t i = 0; i < out.rows; ++i)
      transform::interleave(apart.re.row(i), apart.im.row(i), m, out.row(i));
  }
  /// The cotangents of rows, given the cotangents G of their features.
  void pull(MatrixView<const T> G, MatrixView<T> out) const noexcept {
    const int64_t m = root().columns();
    if (sketch_.field != SketchField::complex)
      return series_.pull({G.block_cols(0, m),
                           root().is_complex() ? G.block_cols(m, 2 * m) : MatrixView<const T>()},
                          out, scratch_);
    const MatrixView<T> apart = columns();
    for (int64_t i = 0; i < G.rows; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        apart(i, j) = G(i, 2 * j);
        apart(i, m + j) = G(i, 2 * j + 1);
      }
    }
    series_.pull({apart.block_cols(0, m), apart.block_cols(m, 2 * m)}, out, scratch_);
  }

 private:
  // Each variable doubles the coefficients at least.
  static constexpr size_t kMostVariables = 10;
  static_assert(Jet::kMost >> kMostVariables == 1);

  const projection::Multilinear& root() const noexcept { return sketch_.tree.root(); }
  T* own() const noexcept { return scratch_ + series_.numbers(); }
  MatrixView<T> columns() const noexcept {
    T* const first = own() + room_.units * room_.inputs;
    return {first, rows(), row_length(sketch_), room_.columns};
  }

  const SketchParts& sketch_;
  const SketchSeries<T>& series_;
  const TileRoom& room_;
  MatrixView<const T> X_;
  T* scratch_;
};

/// Calls body(tile, i0) for tiles that begin with row i0.
template <class T, class Body>
class SketchSeriesTiles final : public TileWork {
 public:
  SketchSeriesTiles(const SketchParts& sketch, MatrixView<const T> X, const SeriesSize& moves,
                    const Body& body)
      : sketch_(sketch),
        X_(X),
        body_(body),
        series_(fitting_series<T>(sketch, X.rows, moves)),
        room_{round_up(X.cols), moves.variables, round_up(row_length(sketch)), series_.rows()} {}

  void prepare(Context& context) const override { series_.prepare(context); }
  TileCut cut() const override {
    const int64_t all = checked_add(series_.numbers(), room_.numbers(), kSketchDerivatives);
    return {
        X_.rows, series_.rows(), {0, 1}, 1, checked_multiply(all, sizeof(T), kSketchDerivatives)};
  }
  void run(const Tile& tile) const noexcept override {
    body_(SketchTile<T>(sketch_, series_, room_, X_.block_rows(tile.i0, tile.i1),
                        reinterpret_cast<T*>(tile.scratch)),
          tile.i0);
  }

 private:
  const SketchParts& sketch_;
  MatrixView<const T> X_;
  const Body& body_;
  SketchSeries<T> series_;
  TileRoom room_;
};

/// `moves`: coefficients and variables of the jets, directions 1 or of each row.
template <class T, class Body>
void for_each_tile(const SketchParts& sketch, MatrixView<const T> X, const SeriesSize& moves,
                   Context& context, const Body& body) {
  if (X.rows > 0) run_tiles(SketchSeriesTiles<T, Body>(sketch, X, moves, body), context);
}

}  // namespace

template <class T>
void SketchSeries<T>::pull_chunk(const Chunk& chunk, const Elements<T>& h) const noexcept {
  const auto count = static_cast<int64_t>(chunk.node.factors()), n = chunk.n;
  const auto value = [&](int64_t f) {
    T* const all = values(chunk.node, static_cast<size_t>(f), chunk.scratch);
    return chunk.image(all + chunk.row * chunk.node.image.stride());
  };
  // Products of the factors before f, and share.
  for (int64_t f = 1; f < count; ++f) {
    const Elements<const T> last = constant(value(f - 1));
    if (f == 1) {
      transform::scale_elements({chunk.coefficient(1), n, last, {}, {}, chunk.node.share});
    } else {
      transform::scale_elements({chunk.coefficient(f), n, chunk.known(f - 1)});
      transform::multiply_elements({chunk.coefficient(f), n, last});
    }
  }
  for (int64_t f = count - 1; f > 0; --f) {
    transform::conjugate_products({chunk.coefficient(f), n, chunk.known(f), constant(h)});
    transform::conjugate_products({h, n, constant(value(f)), constant(h)});
    transform::scale_elements({value(f), n, chunk.known(f)});
  }
  transform::scale_elements({value(0), n, constant(h), {}, {}, chunk.node.share});
}

template <class T>
void SketchSeries<T>::pull_products(const Node& node, const Planes<T>& h,
                                    T* scratch) const noexcept {
  const auto count = static_cast<int64_t>(node.factors());
  for (int64_t i = 0; i < h.re.rows; ++i)
    for_each_chunk(node, value_, count, i, scratch, [&](const Chunk& chunk) noexcept {
      pull_chunk(chunk, chunk.image(h.re.row(i)));
    });
}

template <class T>
void SketchSeries<T>::pull_inputs(const Node& node, MatrixView<T> out, T* scratch) const noexcept {
  for (size_t f = 0; f < node.factors(); ++f) {
    const Planes<T> g = planes(values(node, f, scratch), node.image, out.rows);
    Planes<T> to;
    if (node.is_inner()) {
      to = child_columns(node, f, 0, out.rows, scratch);
      for (const MatrixView<T>& plane : {to.re, to.im})
        for (int64_t i = 0; plane.data != nullptr && i < plane.rows; ++i)
          std::fill_n(plane.row(i), plane.cols, T{0});
    } else if (node.reads(f)) {
      to.re = leaf(node.own->children[f], out);
    } else {
      continue;
    }
    node.own->map->image_adjoint(f, {g.re, g.im}, to, scratch + scratch_);
  }
}

template <class T>
void SketchSeries<T>::pull(Planes<const T> G, MatrixView<T> out, T* scratch) const noexcept {
  for (int64_t i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, T{0});
  for (size_t at = nodes_.size(); at-- > 0;) {
    const Node& node = nodes_[at];
    if (!node.is_root) {
      const Planes<T> own = planes(scratch + node.columns, node.column, out.rows);
      G = {own.re, own.im};
    }
    const Planes<T> h = planes(scratch + (node.is_root ? sum_ : products_), node.image, out.rows);
    node.own->map->back_adjoint(G, h, scratch + scratch_);
    pull_products(node, h, scratch);
    pull_inputs(node, out, scratch);
  }
}

#define MERCER_INSTANTIATE(T) \
  template void SketchSeries<T>::pull(Planes<const T>, MatrixView<T>, T*) const noexcept;
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

template <class T>
void differentiate_rows(const SketchParts& sketch, const Derivative& what, MatrixView<const T> X,
                        Context& context, MatrixView<T> out) {
  const std::vector<SeriesBlock> blocks = series_of(what, X.cols);
  if (blocks.empty()) return;
  const bool streams = goes_around_caches(out);
  const int64_t width = row_length(sketch);
  for_each_tile(sketch, X, {0, most_coefficients(blocks), most_variables(blocks), 1}, context,
                [&](const SketchTile<T>& tile, int64_t i0) noexcept {
                  const MatrixView<T> rows = out.block_rows(i0, i0 + tile.rows());
                  for (int64_t b = 0; b < std::ssize(blocks); ++b) {
                    const std::vector<Jet>& sum = blocks[b].sum;
                    for (const Jet& jet : sum) tile.add(jet, &jet == sum.data());
                    tile.take(rows.block_cols(b * width, (b + 1) * width), streams);
                  }
                  if (streams) transform::finish_streaming();
                });
}

template <class T>
void push_rows_forward(const SketchParts& sketch, MatrixView<const T> X, MatrixView<const T> V,
                       Context& context, MatrixView<T> out) {
  const Jet first({{0, 1}});
  for_each_tile(sketch, X, {0, 2, 1, kOfEachRow}, context,
                [&](const SketchTile<T>& tile, int64_t i0) noexcept {
                  tile.begin_along(first, V.block_rows(i0, i0 + tile.rows()));
                  tile.take(out.block_rows(i0, i0 + tile.rows()));
                });
}

template <class T>
void pull_rows_back(const SketchParts& sketch, MatrixView<const T> X, MatrixView<const T> G,
                    Context& context, MatrixView<T> out) {
  for_each_tile(sketch, X, {0, 1, 1, 1}, context,
                [&](const SketchTile<T>& tile, int64_t i0) noexcept {
                  const int64_t i1 = i0 + tile.rows();
                  tile.pull(G.block_rows(i0, i1), out.block_rows(i0, i1));
                });
}

MERCER_INSTANTIATE_DERIVATIVES(SketchParts)

}  // namespace mercer::feature
