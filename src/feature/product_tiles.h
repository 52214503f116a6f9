// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What derivatives of product sketches have in common: tiles of rows through panels of columns, the
// products P_l = w_l'x + b_l of every factor, and R_l, those of all factors but one.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/size.h"
#include "feature/product_derivative.h"
#include "feature/tile_loop.h"
#include "transform/dense_panel.h"

namespace mercer::feature {

/// `finish` goes on from P of every factor.
template <class T>
class ProductTiles : public TileWork {
 public:
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;
  static constexpr int64_t kMostRows =
      32;  // P and R of a few factors stay in the second-level cache

  void prepare(Context& context) const override {
    factors_.map->prepare({0, factors_.map->columns()}, T{}, context);
  }
  TileCut cut() const override {
    const int64_t panels = (factors_.map->columns() - 1) / kWidth + 1;
    const int64_t blocks = checked_multiply(count_, 3, kWhat);
    const int64_t numbers =
        checked_add(checked_multiply(blocks, kMostRows * kWidth, kWhat), own_, kWhat);
    return {X_.rows,
            kMostRows,
            {0, panels},
            splits_ ? int64_t{1} : panels,
            checked_multiply(numbers, sizeof(T), kWhat)};
  }
  void run(const Tile& tile) const noexcept override {
    T* const P = reinterpret_cast<T*>(tile.scratch);
    T *const R = P + count_ * kMostRows * kWidth, *const Q = R + count_ * kMostRows * kWidth;
    T* const own = Q + count_ * kMostRows * kWidth;
    begin_tile(tile);
    for (int64_t panel = tile.blocks.begin; panel < tile.blocks.end; ++panel) {
      const projection::ProductPanel<T> weights = factors_.map->panels()->panel(panel, T{});
      project(X_.block_rows(tile.i0, tile.i1), weights.weights, weights.biases, P);
      finish(tile, panel, weights.weights, {P, R, Q, own});
    }
  }

 protected:
  // Of one thread: factor by factor, rows x kWidth.
  struct Scratch {
    T* P;
    T* R;
    T* Q;
    T* own;
  };

  ProductTiles(const ProductFactors& factors, MatrixView<const T> X, int64_t own, bool splits)
      : factors_(factors),
        count_(std::ssize(factors.begin)),
        X_(X),
        own_(own),
        splits_(splits),
        share_(static_cast<T>(factors.map->shape().scale /
                              std::sqrt(static_cast<double>(factors.map->columns())))) {}

  int64_t factors() const noexcept { return count_; }
  T share() const noexcept { return share_; }
  int64_t block(int64_t factor) const noexcept { return factor * kMostRows * kWidth; }
  // Columns of a panel that the map has.
  int64_t columns(int64_t panel) const noexcept {
    return std::min(kWidth, factors_.map->columns() - panel * kWidth);
  }
  int64_t inputs(int64_t factor) const noexcept {
    return factors_.map->shape().factors[static_cast<size_t>(factor)].inputs;
  }

  // Factor l of rows; no biases: of directions.
  void project(MatrixView<const T> rows, const T* W, const T* biases, T* P) const noexcept {
    for (int64_t l = 0; l < count_; ++l) {
      const int64_t first = factors_.begin[static_cast<size_t>(l)];
      transform::project_panel(rows.block_cols(first, first + inputs(l)), W, P + block(l));
      W += inputs(l) * kWidth;
      if (biases == nullptr) continue;
      for (int64_t i = 0; i < rows.rows; ++i)
        for (int64_t j = 0; j < kWidth; ++j) P[block(l) + i * kWidth + j] += biases[l * kWidth + j];
    }
  }

  // R_l = share prod_{m != l} P_m: products of those before, then of those behind.
  void others(int64_t rows, const Scratch& s) const noexcept {
    const int64_t count = rows * kWidth;
    std::fill_n(s.R, count, share_);
    for (int64_t l = 1; l < count_; ++l)
      for (int64_t j = 0; j < count; ++j)
        s.R[block(l) + j] = s.R[block(l - 1) + j] * s.P[block(l - 1) + j];
    std::fill_n(s.Q, count, T{1});
    for (int64_t l = count_ - 1; l-- > 0;) {
      for (int64_t j = 0; j < count; ++j) {
        s.Q[j] *= s.P[block(l + 1) + j];
        s.R[block(l) + j] *= s.Q[j];
      }
    }
  }

  // w of input k in factor l, W those of the panel; null: it does not read that.
  const T* weight(const T* W, int64_t l, int64_t k) const noexcept {
    for (int64_t m = 0; m < l; ++m) W += inputs(m) * kWidth;
    k -= factors_.begin[static_cast<size_t>(l)];
    return k >= 0 && k < inputs(l) ? W + k * kWidth : nullptr;
  }

 private:
  static constexpr const char* kWhat = "tiles of derivatives";
  virtual void begin_tile(const Tile&) const noexcept {}
  virtual void finish(const Tile& tile, int64_t panel, const T* W,
                      const Scratch& s) const noexcept = 0;

  const ProductFactors& factors_;
  int64_t count_;
  MatrixView<const T> X_;
  int64_t own_;  // numbers of `own`
  bool splits_;  // panels are done one by one by any thread
  T share_;
};

}  // namespace mercer::feature
