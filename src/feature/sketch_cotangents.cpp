// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// From the cotangents of a tree's columns to those of its rows, last node first (Griewank, Walther
// 2008, chapter 3). For a product share z_1 ... z_p with cotangent h, that of z_f is h times the
// conjugate of the other factors: those before f are multiplied first, and h is multiplied by those
// after f on the way. It overwrites z_f.
#include <algorithm>

#include "feature/sketch_series.h"

namespace mercer::feature {
namespace {

using projection::Planes;
using transform::Elements;

template <class T>
Elements<const T> constant(const Elements<T>& own) noexcept {
  return {own.re, own.im};
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

}  // namespace mercer::feature
