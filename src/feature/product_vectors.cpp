// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products with the Jacobian of product sketches, V the directions or cotangents: J V is the sum
// over the factors of V w_l R_l, J'V that of w_l (R_l V)'.
#include <algorithm>

#include "feature/product_tiles.h"

namespace mercer::feature {
namespace {

template <class T>
class ForwardTiles final : public ProductTiles<T> {
  using Base = ProductTiles<T>;
  using Base::kWidth;

 public:
  ForwardTiles(const ProductFactors& factors, MatrixView<const T> X, MatrixView<const T> V,
               MatrixView<T> out)
      : Base(factors, X, 0, true), V_(V), out_(out) {}

 private:
  void finish(const Tile& tile, int64_t panel, const T* W,
              const typename Base::Scratch& s) const noexcept override {
    const int64_t rows = tile.i1 - tile.i0;
    Base::others(rows, s);
    Base::project(V_.block_rows(tile.i0, tile.i1), W, nullptr, s.Q);
    for (int64_t i = 0; i < rows; ++i) {
      T sum[kWidth] = {};
      for (int64_t l = 0; l < Base::factors(); ++l) {
        const int64_t at = Base::block(l) + i * kWidth;
        for (int64_t j = 0; j < kWidth; ++j) sum[j] += s.Q[at + j] * s.R[at + j];
      }
      std::copy_n(sum, Base::columns(panel), out_.row(tile.i0 + i) + panel * kWidth);
    }
  }

  MatrixView<const T> V_;
  MatrixView<T> out_;
};

template <class T>
class BackwardTiles final : public ProductTiles<T> {
  using Base = ProductTiles<T>;
  using Base::kWidth;

 public:
  BackwardTiles(const ProductFactors& factors, MatrixView<const T> X, MatrixView<const T> G,
                MatrixView<T> out)
      : Base(factors, X, 0, false), G_(G), out_(out) {}

 private:
  void begin_tile(const Tile& tile) const noexcept override {
    for (int64_t i = tile.i0; i < tile.i1; ++i) std::fill_n(out_.row(i), out_.cols, T{0});
  }

  void finish(const Tile& tile, int64_t panel, const T* W,
              const typename Base::Scratch& s) const noexcept override {
    const int64_t rows = tile.i1 - tile.i0;
    Base::others(rows, s);
    for (int64_t i = 0; i < rows; ++i) {
      T g[kWidth] = {};
      std::copy_n(G_.row(tile.i0 + i) + panel * kWidth, Base::columns(panel), g);
      for (int64_t l = 0; l < Base::factors(); ++l)
        for (int64_t j = 0; j < kWidth; ++j) s.R[Base::block(l) + i * kWidth + j] *= g[j];
    }
    for (int64_t k = 0; k < out_.cols; ++k)
      for (int64_t i = 0; i < rows; ++i) out_(tile.i0 + i, k) += product(k, i, W, s.R);
  }

  T product(int64_t k, int64_t i, const T* W, const T* R) const noexcept {
    T sum[kWidth] = {};
    for (int64_t l = 0; l < Base::factors(); ++l) {
      const T* const w = Base::weight(W, l, k);
      if (w == nullptr) continue;
      for (int64_t j = 0; j < kWidth; ++j) sum[j] += w[j] * R[Base::block(l) + i * kWidth + j];
    }
    for (int64_t width = kWidth / 2; width > 0; width /= 2)
      for (int64_t j = 0; j < width; ++j) sum[j] += sum[j + width];
    return sum[0];
  }

  MatrixView<const T> G_;
  MatrixView<T> out_;
};

}  // namespace

template <class T>
void push_forward_products(const ProductFactors& factors, MatrixView<const T> X,
                           MatrixView<const T> V, Context& context, MatrixView<T> out) {
  if (X.rows > 0) run_tiles(ForwardTiles<T>(factors, X, V, out), context);
}

template <class T>
void pull_back_products(const ProductFactors& factors, MatrixView<const T> X, MatrixView<const T> G,
                        Context& context, MatrixView<T> out) {
  if (X.rows > 0) run_tiles(BackwardTiles<T>(factors, X, G, out), context);
}

#define MERCER_INSTANTIATE(T)                                                        \
  template void push_forward_products(const ProductFactors&, MatrixView<const T>,    \
                                      MatrixView<const T>, Context&, MatrixView<T>); \
  template void pull_back_products(const ProductFactors&, MatrixView<const T>,       \
                                   MatrixView<const T>, Context&, MatrixView<T>);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
