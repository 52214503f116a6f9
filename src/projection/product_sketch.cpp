// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Product sketches (Kar, Karnick 2012; complex weights: Wacker, Kanagawa, Filippone 2022):
//   S(u)_l = m^{-1/2} prod_i w_il' u_i,
// w_il with i.i.d. entries: N(0,1), +-1, CN(0,1) or uniform on {1, -1, i, -i}. The factors of a
// panel of weights are multiplied while its products are in the first-level cache.
#include <algorithm>
#include <cmath>

#include "projection/product_moments.h"
#include "projection/product_weights.h"
#include "projection/typed_multilinear.h"
#include "transform/dense_panel.h"
#include "transform/product.h"
#include "transform/sparse_panel.h"

namespace mercer::projection {
namespace {

// What becomes of the products of columns [j0, j0 + width), n rows of them: those of the slice c
// are stored in Z, or summed over the rows.
template <class T>
struct StoreBlock {
  Blocks c;
  Planes<T> Z;
  bool sum;

  void operator()(int64_t j0, int64_t n, const T* re, const T* im) const noexcept {
    place(j0, n, re, Z.re);
    if (Z.im.data != nullptr) place(j0, n, im, Z.im);
  }

 private:
  void place(int64_t j0, int64_t n, const T* block, MatrixView<T> plane) const noexcept {
    constexpr int64_t kWidth = transform::kPanelColumns<T>;
    const int64_t begin = std::max(j0, c.begin), end = std::min(j0 + kWidth, c.end);
    for (int64_t i = 0; i < n; ++i) {
      const T* const from = block + i * kWidth + (begin - j0);
      T* const to = plane.row(sum ? 0 : i) + (begin - c.begin);
      if (!sum) {
        std::copy_n(from, end - begin, to);
      } else {
        for (int64_t j = 0; j < end - begin; ++j) to[j] += from[j];
      }
    }
  }
};

class ProductSketch final : public TypedMultilinear<ProductSketch>, public ProductPanels {
  friend TypedMultilinear<ProductSketch>;

 public:
  ProductSketch(const SketchShape& sketch, bool gaussian)
      : TypedMultilinear(sketch), parts_(sketch.complex ? 2 : 1), weights_(shape(), gaussian) {}

  int64_t tile_rows() const noexcept override { return transform::kTileRows; }

  const ProductPanels* panels() const noexcept override { return parts_ == 1 ? this : nullptr; }
  ProductPanel<float> panel(int64_t panel, float) const noexcept override {
    return weights_.panel<float>(panel);
  }
  ProductPanel<double> panel(int64_t panel, double) const noexcept override {
    return weights_.panel<double>(panel);
  }

 private:
  template <class T>
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  // P and the products, each complex, and the products of two imaginary parts.
  template <class T>
  int64_t scratch_of(int64_t rows, int64_t) const {
    return 5 * rows * kWidth<T>;
  }
  template <class T>
  void prepare_columns(Blocks c, Context& context) const {
    weights_.prepare<T>(c, context);
  }
  template <class T>
  void apply_rows(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                  T* scratch) const noexcept {
    multiply(rows, Z.re.rows, scratch, StoreBlock<T>{c, Z, false});
  }
  template <class T>
  void sum_rows(std::span<const FactorRows<T>> rows, Blocks c, Planes<T> Z,
                T* scratch) const noexcept {
    const int64_t n = rows[0].sparse != nullptr ? rows[0].sparse->rows : rows[0].dense.re.rows;
    multiply(rows, n, scratch, StoreBlock<T>{c, Z, true});
  }

  template <class T>
  void multiply(std::span<const FactorRows<T>> rows, int64_t n, T* scratch,
                const StoreBlock<T>& place) const noexcept {
    const Blocks c = place.c;
    const int64_t block = n * kWidth<T>;
    T *const re = scratch, *const im = scratch + block, *const P = scratch + 2 * block;
    for (int64_t panel = c.begin / kWidth<T>; panel * kWidth<T> < c.end; ++panel) {
      auto [W, bias] = weights_.panel<T>(panel);
      const double share = shape().scale / std::sqrt(static_cast<double>(columns()));
      std::fill(re, re + block, static_cast<T>(share));
      if (parts_ == 2) std::fill(im, im + block, T{0});
      for (size_t i = 0; i < rows.size(); ++i) {
        const int64_t inputs = shape().factors[i].inputs;
        multiply_factor(rows[i], inputs, W, bias, n, P, re, im);
        W += parts_ * inputs * kWidth<T>;
        bias += parts_ * kWidth<T>;
      }
      place(panel * kWidth<T>, n, re, im);
    }
  }

  template <class T>
  void multiply_factor(const FactorRows<T>& rows, int64_t inputs, const T* W, const T* bias,
                       int64_t n, T* P, T* re, T* im) const noexcept {
    const int64_t block = n * kWidth<T>;
    project_rows(rows, rows.dense.re, W, P);
    if (parts_ == 1) return transform::multiply_block(P, bias, n, kWidth<T>, re);
    const T* const W_im = W + inputs * kWidth<T>;
    project_rows(rows, rows.dense.re, W_im, P + block);
    if (rows.dense.im.data != nullptr) add_imaginary_rows(rows.dense.im, W, W_im, P);
    transform::multiply_block(P, P + block, bias, bias + kWidth<T>, n, kWidth<T>, re, im);
  }

  // (u_re + i u_im)(w_re + i w_im).
  template <class T>
  static void add_imaginary_rows(MatrixView<const T> u_im, const T* W_re, const T* W_im,
                                 T* P) noexcept {
    const int64_t block = u_im.rows * kWidth<T>;
    T* const more = P + 2 * block;
    transform::project_panel(u_im, W_im, more);
    for (int64_t j = 0; j < block; ++j) P[j] -= more[j];
    transform::project_panel(u_im, W_re, more);
    for (int64_t j = 0; j < block; ++j) P[block + j] += more[j];
  }

  template <class T>
  static void project_rows(const FactorRows<T>& rows, MatrixView<const T> dense, const T* W,
                           T* P) noexcept {
    if (rows.sparse != nullptr) return transform::project_panel(*rows.sparse, W, P);
    // A factor without inputs is its constant alone.
    if (dense.cols == 0) std::fill(P, P + dense.rows * kWidth<T>, T{0});
    transform::project_panel(dense, W, P);
  }

  int64_t parts_;  // 1, complex: 2
  ProductWeights weights_;
};

template <bool gaussian>
std::unique_ptr<Multilinear> make(const SketchShape& shape) {
  return std::make_unique<ProductSketch>(shape, gaussian);
}

template <bool gaussian>
PairMoments moments(bool complex, int64_t columns, int64_t,
                    std::span<const PairMoments> factors) noexcept {
  return product_moments(!gaussian, {}, complex, static_cast<double>(columns), factors);
}

}  // namespace

SketchFamily product_sketch_entry() {
  return {.name = "product_sketch",
          .help =
              "products of `degree` random projections, for polynomial and bilinear kernels; "
              "degree*d*D per row",
          .fields = {"real", "complex", "complex_to_real"},
          .kinds = {{.name = "rademacher",
                     .make = make<false>,
                     .moments = moments<false>,
                     .projection = "rademacher",
                     .independent = true},
                    {.name = "gaussian",
                     .make = make<true>,
                     .moments = moments<true>,
                     .projection = "gaussian",
                     .independent = true}},
          .kinds_help = "law of the projections; rademacher has the lower variance",
          .kinds_former = "weights"};
}

}  // namespace mercer::projection
