// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What derivatives of product sketches have in common: tiles of rows through panels of columns, the
// products P_l = w_l'x + b_l of every factor, and R_l, those of all factors but one.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/size.h"
#include "feature/product_derivative.h"
#include "feature/tile_loop.h"
#include "transform/dense_panel.h"

namespace mercer::feature {

/// What P and R of a tile's rows are made of, and how they lie: factor by factor, rows x kWidth.
template <class T>
class ProductShape {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;
  static constexpr int64_t kMostRows =
      32;  // P and R of a few factors stay in the second-level cache

  explicit ProductShape(const ProductFactors& factors)
      : map(*factors.map),
        begin_(factors.begin),
        share_(static_cast<T>(map.shape().scale / std::sqrt(static_cast<double>(map.columns())))) {}

  int64_t factors() const noexcept { return std::ssize(begin_); }
  T share() const noexcept { return share_; }
  int64_t block(int64_t factor) const noexcept { return factor * kMostRows * kWidth; }
  int64_t panels() const noexcept { return (map.columns() - 1) / kWidth + 1; }
  // Columns of a panel that the map has.
  int64_t columns(int64_t panel) const noexcept {
    return std::min(kWidth, map.columns() - panel * kWidth);
  }
  int64_t inputs(int64_t factor) const noexcept {
    return map.shape().factors[static_cast<size_t>(factor)].inputs;
  }

  // Factor l of rows; no biases: of directions.
  void project(MatrixView<const T> rows, const T* W, const T* biases, T* P) const noexcept {
    for (int64_t l = 0; l < factors(); ++l) {
      const int64_t first = begin_[static_cast<size_t>(l)];
      transform::project_panel(rows.block_cols(first, first + inputs(l)), W, P + block(l));
      W += inputs(l) * kWidth;
      if (biases == nullptr) continue;
      for (int64_t i = 0; i < rows.rows; ++i)
        for (int64_t j = 0; j < kWidth; ++j) P[block(l) + i * kWidth + j] += biases[l * kWidth + j];
    }
  }

  // R_l = share prod_{m != l} P_m: products of those before, then of those behind.
  void others(int64_t rows, const T* P, T* R, T* Q) const noexcept {
    const int64_t count = rows * kWidth;
    std::fill_n(R, count, share_);
    for (int64_t l = 1; l < factors(); ++l)
      for (int64_t j = 0; j < count; ++j)
        R[block(l) + j] = R[block(l - 1) + j] * P[block(l - 1) + j];
    std::fill_n(Q, count, T{1});
    for (int64_t l = factors() - 1; l-- > 0;) {
      for (int64_t j = 0; j < count; ++j) {
        Q[j] *= P[block(l + 1) + j];
        R[block(l) + j] *= Q[j];
      }
    }
  }

  // w of input k in factor l, W those of the panel; null: it does not read that.
  const T* weight(const T* W, int64_t l, int64_t k) const noexcept {
    for (int64_t m = 0; m < l; ++m) W += inputs(m) * kWidth;
    k -= begin_[static_cast<size_t>(l)];
    return k >= 0 && k < inputs(l) ? W + k * kWidth : nullptr;
  }

  const projection::Multilinear& map;

 private:
  const std::vector<int64_t>& begin_;
  T share_;
};

/// A panel of a tile's rows.
template <class T>
struct ProductBlock {
  Tile tile;
  int64_t panel;
  const T* W;
  T* P;
  T* R;    // room for what P is multiplied by
  T* Q;    // and for one more
  T* own;  // and for what was asked for

  int64_t rows() const noexcept { return tile.i1 - tile.i0; }
};

/// body(block), every panel of a tile in order; splits: panels of the same rows may be done by any
/// threads. `own`: numbers.
template <class T, class Body>
class ProductTiles final : public TileWork {
 public:
  ProductTiles(const ProductShape<T>& shape, MatrixView<const T> X, int64_t own, bool splits,
               const Body& body)
      : shape_(shape), X_(X), own_(own), splits_(splits), body_(body) {}

  void prepare(Context& context) const override {
    shape_.map.prepare({0, shape_.map.columns()}, T{}, context);
  }
  TileCut cut() const override {
    constexpr const char* kWhat = "tiles of derivatives";
    constexpr int64_t kBlock = ProductShape<T>::kMostRows * ProductShape<T>::kWidth;
    const int64_t blocks = checked_multiply(shape_.factors(), 3, kWhat);
    const int64_t numbers = checked_add(checked_multiply(blocks, kBlock, kWhat), own_, kWhat);
    return {X_.rows,
            ProductShape<T>::kMostRows,
            {0, shape_.panels()},
            splits_ ? int64_t{1} : shape_.panels(),
            checked_multiply(numbers, sizeof(T), kWhat)};
  }
  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    const int64_t all = shape_.block(shape_.factors());
    for (int64_t panel = tile.blocks.begin; panel < tile.blocks.end; ++panel) {
      const projection::ProductPanel<T> weights = shape_.map.panels()->panel(panel, T{});
      shape_.project(X_.block_rows(tile.i0, tile.i1), weights.weights, weights.biases, P);
      body_(ProductBlock<T>{tile, panel, weights.weights, P, P + all, P + 2 * all, P + 3 * all});
    }
  }

 private:
  const ProductShape<T>& shape_;
  MatrixView<const T> X_;
  int64_t own_;
  bool splits_;
  const Body& body_;
};

template <class T, class Body>
void for_each_panel(const ProductShape<T>& shape, MatrixView<const T> X, int64_t own, bool splits,
                    Context& context, const Body& body) {
  if (X.rows > 0) run_tiles(ProductTiles<T, Body>(shape, X, own, splits, body), context);
}

}  // namespace mercer::feature
