// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products with the Jacobian of product sketches, V the directions or cotangents: J V is the sum
// over the factors of V w_l R_l, J'V that of w_l (R_l V)'.
#include <algorithm>

#include "feature/product_tiles.h"

namespace mercer::feature {
namespace {

// The sum over the factors of R_l w_l of input k, over the columns.
template <class T>
T product(const ProductShape<T>& shape, const T* W, const T* R, int64_t k) noexcept {
  constexpr int64_t kWidth = ProductShape<T>::kWidth;
  T sum[kWidth] = {};
  for (int64_t l = 0; l < shape.factors(); ++l) {
    const T* const w = shape.weight(W, l, k);
    if (w == nullptr) continue;
    for (int64_t j = 0; j < kWidth; ++j) sum[j] += w[j] * R[shape.block(l) + j];
  }
  for (int64_t width = kWidth / 2; width > 0; width /= 2)
    for (int64_t j = 0; j < width; ++j) sum[j] += sum[j + width];
  return sum[0];
}

}  // namespace

template <class T>
void push_forward_products(const ProductFactors& factors, MatrixView<const T> X,
                           MatrixView<const T> V, Context& context, MatrixView<T> out) {
  constexpr int64_t kWidth = ProductShape<T>::kWidth;
  const ProductShape<T> shape(factors);
  for_each_panel(shape, X, 0, true, context, [&](const ProductBlock<T>& s) noexcept {
    shape.others(s.rows(), s.P, s.R, s.Q);
    shape.project(V.block_rows(s.tile.i0, s.tile.i1), s.W, nullptr, s.Q);
    for (int64_t i = 0; i < s.rows(); ++i) {
      T sum[kWidth] = {};
      for (int64_t l = 0; l < shape.factors(); ++l) {
        const int64_t at = shape.block(l) + i * kWidth;
        for (int64_t j = 0; j < kWidth; ++j) sum[j] += s.Q[at + j] * s.R[at + j];
      }
      std::copy_n(sum, shape.columns(s.panel), out.row(s.tile.i0 + i) + s.panel * kWidth);
    }
  });
}

template <class T>
void pull_back_products(const ProductFactors& factors, MatrixView<const T> X, MatrixView<const T> G,
                        Context& context, MatrixView<T> out) {
  constexpr int64_t kWidth = ProductShape<T>::kWidth;
  const ProductShape<T> shape(factors);
  for_each_panel(shape, X, 0, false, context, [&](const ProductBlock<T>& s) noexcept {
    const MatrixView<T> sum = out.block_rows(s.tile.i0, s.tile.i1);
    shape.others(s.rows(), s.P, s.R, s.Q);
    for (int64_t i = 0; i < s.rows(); ++i) {
      if (s.panel == 0) std::fill_n(sum.row(i), sum.cols, T{0});
      T g[kWidth] = {};
      std::copy_n(G.row(s.tile.i0 + i) + s.panel * kWidth, shape.columns(s.panel), g);
      for (int64_t l = 0; l < shape.factors(); ++l)
        for (int64_t j = 0; j < kWidth; ++j) s.R[shape.block(l) + i * kWidth + j] *= g[j];
    }
    for (int64_t k = 0; k < sum.cols; ++k)
      for (int64_t i = 0; i < s.rows(); ++i) sum(i, k) += product(shape, s.W, s.R + i * kWidth, k);
  });
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
