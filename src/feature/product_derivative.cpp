// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A column moved by t is prod_l (P_l + t'w_l): first derivatives are sums over l of w_l times the
// product R_l of the other factors, derivatives of order p are p! times the coefficient of t^p,
// which one factor after the other is multiplied into a power series cut off at p (Griewank,
// Walther 2008, chapter 13). Nothing is divided, so that factors may vanish.
#include <algorithm>

#include "feature/product_tiles.h"
#include "kernel/jet.h"

namespace mercer::feature {
namespace {

using kernel::Jet;

template <class T>
void differentiate_once(const ProductFactors& factors, MatrixView<const T> X, Context& context,
                        MatrixView<T> out) {
  constexpr int64_t kWidth = ProductShape<T>::kWidth;
  const ProductShape<T> shape(factors);
  for_each_panel(shape, X, 0, true, context, [&](const ProductBlock<T>& s) noexcept {
    const int64_t D = shape.map.columns();
    shape.others(s.rows(), s.P, s.R, s.Q);
    for (int64_t k = 0; k < X.cols; ++k) {
      for (int64_t i = 0; i < s.rows(); ++i) {
        T sum[kWidth] = {};
        for (int64_t l = 0; l < shape.factors(); ++l) {
          const T* const w = shape.weight(s.W, l, k);
          const T* const R = s.R + shape.block(l) + i * kWidth;
          if (w == nullptr) continue;
          for (int64_t j = 0; j < kWidth; ++j) sum[j] += w[j] * R[j];
        }
        std::copy_n(sum, shape.columns(s.panel), out.row(s.tile.i0 + i) + k * D + s.panel * kWidth);
      }
    }
  });
}

// Block b is the sum of the series' last coefficients.
struct SeriesBlock {
  std::vector<Jet> sum;
};

int64_t most_coefficients(const std::vector<SeriesBlock>& blocks) noexcept {
  int64_t most = 1;
  for (const SeriesBlock& block : blocks)
    for (const Jet& series : block.sum) most = std::max(most, series.count);
  return most;
}

// The last coefficient of a series of a row's P, in room S. From the last coefficient on, so that
// those that it is made of are still the old ones.
template <class T>
const T* multiply(const ProductShape<T>& shape, const Jet& series, const T* W, const T* P,
                  T* S) noexcept {
  constexpr int64_t kWidth = ProductShape<T>::kWidth;
  std::fill_n(S, series.count * kWidth, T{0});
  std::fill_n(S, kWidth, shape.share());
  for (int64_t l = 0; l < shape.factors(); ++l) {
    const T* const p = P + shape.block(l);
    for (int64_t c = series.count - 1; c >= 0; --c) {
      T* const to = S + c * kWidth;
      for (int64_t j = 0; j < kWidth; ++j) to[j] *= p[j];
      for (size_t v = 0; v < series.p.size(); ++v) {
        const T* const w = shape.weight(W, l, series.p[v].input);
        if (w == nullptr || series.exponent(v, c) == 0) continue;
        const T* const from = to - series.steps[v] * kWidth;
        for (int64_t j = 0; j < kWidth; ++j) to[j] += w[j] * from[j];
      }
    }
  }
  return S + (series.count - 1) * kWidth;
}

std::vector<SeriesBlock> series_of(const Derivative& what, int64_t d) {
  std::vector<SeriesBlock> blocks;
  for (const std::vector<MultiIndex>& sum : partials_of(what, d)) {
    blocks.emplace_back();
    for (const MultiIndex& p : sum) blocks.back().sum.emplace_back(p);
  }
  return blocks;
}

template <class T>
void add_series(const ProductFactors& factors, const std::vector<SeriesBlock>& blocks,
                MatrixView<const T> X, Context& context, MatrixView<T> out) {
  constexpr int64_t kWidth = ProductShape<T>::kWidth;
  const ProductShape<T> shape(factors);
  const int64_t own = most_coefficients(blocks) * kWidth;
  for_each_panel(shape, X, own, true, context, [&](const ProductBlock<T>& s) noexcept {
    const int64_t D = shape.map.columns();
    for (int64_t b = 0; b < std::ssize(blocks); ++b) {
      for (int64_t i = 0; i < s.rows(); ++i) {
        T sum[kWidth] = {};
        for (const Jet& series : blocks[static_cast<size_t>(b)].sum) {
          const T* const last = multiply(shape, series, s.W, s.P + i * kWidth, s.own);
          const T factorial = static_cast<T>(series.factorial);
          for (int64_t j = 0; j < kWidth; ++j) sum[j] += factorial * last[j];
        }
        std::copy_n(sum, shape.columns(s.panel), out.row(s.tile.i0 + i) + b * D + s.panel * kWidth);
      }
    }
  });
}

}  // namespace

template <class T>
void differentiate_products(const ProductFactors& factors, const Derivative& what,
                            MatrixView<const T> X, Context& context, MatrixView<T> out) {
  if (what.kind == Derivative::Kind::gradient) return differentiate_once(factors, X, context, out);
  const std::vector<SeriesBlock> blocks = series_of(what, X.cols);
  if (!blocks.empty()) add_series(factors, blocks, X, context, out);
}

#define MERCER_INSTANTIATE(T)                                                    \
  template void differentiate_products(const ProductFactors&, const Derivative&, \
                                       MatrixView<const T>, Context&, MatrixView<T>);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
