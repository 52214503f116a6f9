// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A factor of a leaf is affine in the variables, that of an inner node is itself a series. Both are
// multiplied into the product of the factors before, coefficient by coefficient, last first, so
// that coefficients still to be read are unchanged (Griewank, Walther 2008, chapter 13). Nothing is
// divided, so factors may vanish; directions are mapped by linear images only, so they keep their
// digits beside any constant. Nodes are in order: a series exists before it is read.
#include "feature/sketch_series.h"

#include <algorithm>

#include "base/size.h"

namespace mercer::feature {
namespace {

using kernel::Jet;
using projection::FactorRows;
using projection::Planes;
using transform::Elements;

constexpr const char* kSeriesOfSketches = "the series of a tile of sketches";

}  // namespace

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
    // Of the root only the last coefficient is needed.
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

template class SketchSeries<float>;
template class SketchSeries<double>;

}  // namespace mercer::feature
