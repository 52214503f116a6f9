// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Product sketches (Kar, Karnick 2012; complex weights: Wacker, Kanagawa, Filippone 2022):
//   S(u)_l = m^{-1/2} prod_i w_il' u_i,
// w_il with i.i.d. entries: N(0,1), +-1, CN(0,1) or uniform on {1, -1, i, -i}. Entry k of w_il is
// variate k of stream (seed, frequency, (first_factor + i) 2^32 + l). Weights are packed in panels
// with a factor's scale inside them and its constant as a bias, so that rows are read as they are;
// the factors of a panel are multiplied while its products are in the first-level cache.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "projection/lazy_groups.h"
#include "projection/product_moments.h"
#include "random/distributions.h"
#include "transform/dense_panel.h"
#include "transform/product.h"
#include "transform/sparse_panel.h"

namespace mercer::projection {
namespace {

// Panels that are drawn together.
constexpr int64_t kGroupPanels = 16;

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

// Of one group: panel by panel, factor by factor, real part then imaginary part.
template <class T>
struct Weights {
  AlignedBuffer<T> panels;
  AlignedBuffer<T> biases;
};

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

class ProductSketch final : public Multilinear, public ProductPanels {
 public:
  ProductSketch(const SketchShape& sketch, bool gaussian)
      : Multilinear(sketch),
        gaussian_(gaussian),
        parts_(sketch.complex ? 2 : 1),
        single_(ceil_divide(sketch.columns, kGroupPanels * kWidth<float>)),
        double_(ceil_divide(sketch.columns, kGroupPanels * kWidth<double>)) {
    for (const FactorShape& factor : sketch.factors) {
      inputs_ = checked_add(inputs_, factor.inputs, "weights");
    }
  }

  int64_t tile_rows() const noexcept override { return transform::kTileRows; }
  int64_t scratch(int64_t rows, int64_t, float) const override {
    return blocks(rows) * kWidth<float>;
  }
  int64_t scratch(int64_t rows, int64_t, double) const override {
    return blocks(rows) * kWidth<double>;
  }

  void prepare(Blocks c, float, Context& context) const override { draw(c, single_, context); }
  void prepare(Blocks c, double, Context& context) const override { draw(c, double_, context); }

  void apply(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
             float* scratch) const noexcept override {
    multiply(rows, Z.re.rows, single_, scratch, StoreBlock<float>{c, Z, false});
  }
  void apply(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
             double* scratch) const noexcept override {
    multiply(rows, Z.re.rows, double_, scratch, StoreBlock<double>{c, Z, false});
  }
  void apply_sum(std::span<const FactorRows<float>> rows, Blocks c, Planes<float> Z,
                 float* scratch) const noexcept override {
    multiply(rows, row_count(rows[0]), single_, scratch, StoreBlock<float>{c, Z, true});
  }
  void apply_sum(std::span<const FactorRows<double>> rows, Blocks c, Planes<double> Z,
                 double* scratch) const noexcept override {
    multiply(rows, row_count(rows[0]), double_, scratch, StoreBlock<double>{c, Z, true});
  }

  const ProductPanels* panels() const noexcept override { return parts_ == 1 ? this : nullptr; }
  ProductPanel<float> panel(int64_t panel, float) const noexcept override {
    return panel_of(single_, panel);
  }
  ProductPanel<double> panel(int64_t panel, double) const noexcept override {
    return panel_of(double_, panel);
  }

 private:
  template <class T>
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  template <class T>
  ProductPanel<T> panel_of(const LazyGroups<Weights<T>>& store, int64_t panel) const noexcept {
    const Weights<T>& weights = store[panel / kGroupPanels];
    return {weights.panels.data() + panel % kGroupPanels * panel_size<T>(),
            weights.biases.data() + panel % kGroupPanels * bias_size<T>()};
  }

  // P and the products, each complex, and the products of two imaginary parts.
  static int64_t blocks(int64_t rows) { return 5 * rows; }

  template <class T>
  static int64_t row_count(const FactorRows<T>& rows) noexcept {
    return rows.sparse != nullptr ? rows.sparse->rows : rows.dense.re.rows;
  }

  template <class T>
  int64_t panel_size() const noexcept {
    return parts_ * inputs_ * kWidth<T>;
  }
  template <class T>
  int64_t bias_size() const noexcept {
    return parts_ * static_cast<int64_t>(shape().factors.size()) * kWidth<T>;
  }

  template <class T>
  void draw(Blocks c, LazyGroups<Weights<T>>& store, Context& context) const {
    const int64_t width = kGroupPanels * kWidth<T>;
    const Blocks groups{c.begin / width, ceil_divide(c.end, width)};
    const int64_t panels = std::min(kGroupPanels, ceil_divide(columns(), kWidth<T>));
    store.prepare_all(groups, cost<T>(panels, context), context,
                      [&](int64_t group) { return draw_group<T>(group, context); });
  }

  // Of as many panels as a group has at most.
  template <class T>
  GroupCost cost(int64_t panels, const Context& context) const {
    const int64_t weights = checked_multiply(inputs_, parts_ * kWidth<T>, "weights");
    const int64_t kept =
        checked_multiply(panels, checked_add(weights, bias_size<T>(), "weights"), "weights");
    const int64_t drawn =
        checked_multiply(longest_column(), worker_count(context, panels), "weights");
    return {checked_multiply(kept, sizeof(T), "weights"),
            checked_multiply(drawn, sizeof(double), "weights"), "a group of weights"};
  }

  // Numbers of one weight vector as drawn.
  int64_t longest_column() const noexcept {
    int64_t longest = 0;
    for (const FactorShape& factor : shape().factors)
      longest = std::max(longest, factor.inputs + 1);
    return parts_ * longest;
  }

  template <class T>
  Weights<T> draw_group(int64_t group, Context& context) const {
    const int64_t first = group * kGroupPanels;
    const int64_t panels = std::min(kGroupPanels, ceil_divide(columns(), kWidth<T>) - first);
    Weights<T> weights{AlignedBuffer<T>(panels * panel_size<T>()),
                       AlignedBuffer<T>(panels * bias_size<T>())};
    const Matrix<double> columns_drawn(worker_count(context, panels), longest_column());
    parallel_for(context, panels, [&](int64_t p, int worker) noexcept {
      draw_panel((first + p) * kWidth<T>, columns_drawn.view().row(worker),
                 weights.panels.data() + p * panel_size<T>(),
                 weights.biases.data() + p * bias_size<T>());
    });
    return weights;
  }

  // Columns past the last are zero.
  template <class T>
  void draw_panel(int64_t j0, double* column, T* panel, T* bias) const noexcept {
    for (size_t i = 0; i < shape().factors.size(); ++i) {
      const FactorShape& factor = shape().factors[i];
      for (int64_t l = 0; l < kWidth<T>; ++l) {
        if (j0 + l < columns()) {
          draw_column(static_cast<int64_t>(i), j0 + l, column);
        } else {
          std::fill(column, column + parts_ * (factor.inputs + 1), 0.0);
        }
        for (int64_t part = 0; part < parts_; ++part) {
          T* const to = panel + part * factor.inputs * kWidth<T> + l;
          for (int64_t k = 0; k < factor.inputs; ++k)
            to[k * kWidth<T>] = static_cast<T>(factor.scale * column[parts_ * k + part]);
          bias[part * kWidth<T> + l] =
              static_cast<T>(factor.constant * column[parts_ * factor.inputs + part]);
        }
      }
      panel += parts_ * factor.inputs * kWidth<T>;
      bias += parts_ * kWidth<T>;
    }
  }

  // Interleaved if complex; the constant's weight last.
  void draw_column(int64_t factor, int64_t l, double* column) const noexcept {
    const FactorShape& one = shape().factors[static_cast<size_t>(factor)];
    const random::Stream stream(
        shape().seed, random::Tag::frequency,
        static_cast<uint64_t>(shape().first_factor + factor) << 32 | static_cast<uint64_t>(l));
    const std::span out(column, static_cast<size_t>(parts_ * (one.inputs + 1)));
    if (shape().complex) {
      gaussian_ ? random::fill_complex_normal(stream, 0, out)
                : random::fill_complex_rademacher(stream, 0, out);
    } else {
      gaussian_ ? random::fill_normal(stream, 0, out) : random::fill_rademacher(stream, 0, out);
    }
  }

  template <class T>
  void multiply(std::span<const FactorRows<T>> rows, int64_t n, const LazyGroups<Weights<T>>& store,
                T* scratch, const StoreBlock<T>& place) const noexcept {
    const Blocks c = place.c;
    const int64_t block = n * kWidth<T>;
    T *const re = scratch, *const im = scratch + block, *const P = scratch + 2 * block;
    for (int64_t panel = c.begin / kWidth<T>; panel * kWidth<T> < c.end; ++panel) {
      auto [W, bias] = panel_of(store, panel);
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

  bool gaussian_;
  int64_t parts_;       // 1, complex: 2
  int64_t inputs_ = 0;  // of all factors
  mutable LazyGroups<Weights<float>> single_;
  mutable LazyGroups<Weights<double>> double_;
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
