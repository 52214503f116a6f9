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
class GradientTiles final : public ProductTiles<T> {
  using Base = ProductTiles<T>;
  using Base::kWidth;

 public:
  GradientTiles(const ProductFactors& factors, MatrixView<const T> X, MatrixView<T> out)
      : Base(factors, X, 0, true), d_(X.cols), D_(factors.map->columns()), out_(out) {}

 private:
  void finish(const Tile& tile, int64_t panel, const T* W,
              const typename Base::Scratch& s) const noexcept override {
    const int64_t rows = tile.i1 - tile.i0, count = Base::columns(panel);
    Base::others(rows, s);
    for (int64_t k = 0; k < d_; ++k) {
      for (int64_t i = 0; i < rows; ++i) {
        T sum[kWidth] = {};
        for (int64_t l = 0; l < Base::factors(); ++l) {
          const T* const w = Base::weight(W, l, k);
          const T* const R = s.R + Base::block(l) + i * kWidth;
          if (w == nullptr) continue;
          for (int64_t j = 0; j < kWidth; ++j) sum[j] += w[j] * R[j];
        }
        std::copy_n(sum, count, out_.row(tile.i0 + i) + k * D_ + panel * kWidth);
      }
    }
  }

  int64_t d_;
  int64_t D_;
  MatrixView<T> out_;
};

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

template <class T>
class SeriesTiles final : public ProductTiles<T> {
  using Base = ProductTiles<T>;
  using Base::kWidth;

 public:
  SeriesTiles(const ProductFactors& factors, MatrixView<const T> X,
              const std::vector<SeriesBlock>& blocks, MatrixView<T> out)
      : Base(factors, X, most_coefficients(blocks) * kWidth, true),
        D_(factors.map->columns()),
        blocks_(blocks),
        out_(out) {}

 private:
  void finish(const Tile& tile, int64_t panel, const T* W,
              const typename Base::Scratch& s) const noexcept override {
    const int64_t count = Base::columns(panel);
    for (size_t b = 0; b < blocks_.size(); ++b) {
      for (int64_t i = 0; i < tile.i1 - tile.i0; ++i) {
        T sum[kWidth] = {};
        for (const Jet& series : blocks_[b].sum) {
          const T* const last = multiply(series, W, s.P + i * kWidth, s.own);
          const T factorial = static_cast<T>(series.factorial);
          for (int64_t j = 0; j < kWidth; ++j) sum[j] += factorial * last[j];
        }
        std::copy_n(sum, count,
                    out_.row(tile.i0 + i) + static_cast<int64_t>(b) * D_ + panel * kWidth);
      }
    }
  }

  // From the last coefficient on, so that those that it is made of are still the old ones.
  const T* multiply(const Jet& series, const T* W, const T* P, T* S) const noexcept {
    std::fill_n(S, series.count * kWidth, T{0});
    std::fill_n(S, kWidth, Base::share());
    for (int64_t l = 0; l < Base::factors(); ++l) {
      const T* const p = P + Base::block(l);
      for (int64_t c = series.count - 1; c >= 0; --c) {
        T* const to = S + c * kWidth;
        for (int64_t j = 0; j < kWidth; ++j) to[j] *= p[j];
        for (size_t v = 0; v < series.p.size(); ++v) {
          const T* const w = Base::weight(W, l, series.p[v].input);
          if (w == nullptr || series.exponent(v, c) == 0) continue;
          const T* const from = to - series.steps[v] * kWidth;
          for (int64_t j = 0; j < kWidth; ++j) to[j] += w[j] * from[j];
        }
      }
    }
    return S + (series.count - 1) * kWidth;
  }

  int64_t D_;
  const std::vector<SeriesBlock>& blocks_;
  MatrixView<T> out_;
};

std::vector<SeriesBlock> series_of(const Derivative& what, int64_t d) {
  std::vector<SeriesBlock> blocks;
  for (const std::vector<MultiIndex>& sum : partials_of(what, d)) {
    blocks.emplace_back();
    for (const MultiIndex& p : sum) blocks.back().sum.emplace_back(p);
  }
  return blocks;
}

}  // namespace

template <class T>
void differentiate_products(const ProductFactors& factors, const Derivative& what,
                            MatrixView<const T> X, Context& context, MatrixView<T> out) {
  if (what.kind == Derivative::Kind::gradient) {
    if (X.rows > 0) run_tiles(GradientTiles<T>(factors, X, out), context);
    return;
  }
  const std::vector<SeriesBlock> blocks = series_of(what, X.cols);
  if (X.rows > 0 && !blocks.empty()) run_tiles(SeriesTiles<T>(factors, X, blocks, out), context);
}

#define MERCER_INSTANTIATE(T)                                                    \
  template void differentiate_products(const ProductFactors&, const Derivative&, \
                                       MatrixView<const T>, Context&, MatrixView<T>);
MERCER_INSTANTIATE(float)
MERCER_INSTANTIATE(double)
#undef MERCER_INSTANTIATE

}  // namespace mercer::feature
