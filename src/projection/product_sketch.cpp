// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Product sketches (Kar, Karnick 2012; complex weights: Wacker, Kanagawa, Filippone 2022):
//   S(u)_l = m^{-1/2} prod_i w_il' u_i,
// w_il with i.i.d. entries: N(0,1), +-1, CN(0,1) or uniform on {1, -1, i, -i}. The factors of a
// panel of weights are multiplied while its products are in the first-level cache.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/aligned.h"
#include "base/context.h"
#include "base/parallel.h"
#include "base/size.h"
#include "projection/lazy_groups.h"
#include "projection/projection.h"
#include "projection/sketch_kind.h"
#include "random/distributions.h"
#include "transform/elements.h"
#include "transform/panel.h"

namespace mercer::projection {
namespace {

// The weights of a product sketch, drawn in groups of panels of columns when first used.

// The weights of a panel of columns m^{-1/2} scale prod_i (w_i'x_i + b_i): w factor by factor,
// inputs x kPanelColumns<T>, and b, one row of a panel for each factor.
template <class T>
struct ProductPanel {
  const T* weights;
  const T* biases;
};

class ProductWeights {
 public:
  // The shape must outlive it.
  ProductWeights(const SketchShape& shape, bool gaussian);

  template <class T>
  void prepare(Blocks c, Context& context) const;
  // The panels of prepared columns; complex: a factor's imaginary parts follow its real ones.
  template <class T>
  ProductPanel<T> panel(int64_t panel) const noexcept {
    const Panels<T>& group = groups_.of<T>()[panel / kGroupPanels];
    return {group.weights.data() + panel % kGroupPanels * panel_size<T>(),
            group.biases.data() + panel % kGroupPanels * bias_size<T>()};
  }

 private:
  // Panels that are drawn together.
  static constexpr int64_t kGroupPanels = 16;
  template <class T>
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  // The numbers of one group, panel by panel and factor by factor, the real part before the
  // imaginary part.
  template <class T>
  struct Panels {
    AlignedBuffer<T> weights;
    AlignedBuffer<T> biases;
  };
  template <class T>
  struct Groups : LazyGroups<Panels<T>> {
    explicit Groups(int64_t columns)
        : LazyGroups<Panels<T>>((columns - 1) / (kGroupPanels * kWidth<T>)+1) {}
  };

  template <class T>
  int64_t panel_size() const noexcept {
    return parts_ * inputs_ * kWidth<T>;
  }
  template <class T>
  int64_t bias_size() const noexcept {
    return parts_ * static_cast<int64_t>(shape_.factors.size()) * kWidth<T>;
  }
  template <class T>
  int64_t panels_from(int64_t first) const noexcept;
  template <class T>
  GroupCost cost(const Context& context) const;
  template <class T>
  Panels<T> draw_group(int64_t group, Context& context) const;
  template <class T>
  void draw_panel(int64_t j0, double* column, T* panel, T* bias) const noexcept;
  void draw_column(int64_t factor, int64_t l, double* column) const noexcept;
  int64_t longest_column() const noexcept;

  const SketchShape& shape_;
  bool gaussian_;
  int64_t parts_;       // 1, complex: 2
  int64_t inputs_ = 0;  // of all factors
  mutable PerPrecision<Groups> groups_;
};

// Entry k of w_il is variate k of stream (seed, frequency, (first_factor + i) 2^32 + l). Weights
// are packed with a factor's scale inside them and its constant as a bias, so that rows are read as
// they are.

namespace {}  // namespace

ProductWeights::ProductWeights(const SketchShape& shape, bool gaussian)
    : shape_(shape), gaussian_(gaussian), parts_(shape.complex ? 2 : 1), groups_(shape.columns) {
  for (const FactorShape& factor : shape.factors)
    inputs_ = checked_add(inputs_, factor.inputs, "weights");
}

template <class T>
void ProductWeights::prepare(Blocks c, Context& context) const {
  const int64_t width = kGroupPanels * kWidth<T>;
  const Blocks groups{c.begin / width, ceil_divide(c.end, width)};
  groups_.of<T>().prepare_all(groups, cost<T>(context), context,
                              [&](int64_t group) { return draw_group<T>(group, context); });
}

// Panels of the group that begins with panel `first`.
template <class T>
int64_t ProductWeights::panels_from(int64_t first) const noexcept {
  return std::min(kGroupPanels, ceil_divide(shape_.columns, kWidth<T>) - first);
}

// The cost of the largest group.
template <class T>
GroupCost ProductWeights::cost(const Context& context) const {
  const int64_t panels = panels_from<T>(0);
  const int64_t weights = checked_multiply(inputs_, parts_ * kWidth<T>, "weights");
  const int64_t kept =
      checked_multiply(panels, checked_add(weights, bias_size<T>(), "weights"), "weights");
  const int64_t drawn =
      checked_multiply(longest_column(), worker_count(context, panels), "weights");
  return {checked_multiply(kept, sizeof(T), "weights"),
          checked_multiply(drawn, sizeof(double), "weights"), "a group of weights"};
}

// Numbers of one weight vector as drawn.
int64_t ProductWeights::longest_column() const noexcept {
  int64_t longest = 0;
  for (const FactorShape& factor : shape_.factors) longest = std::max(longest, factor.inputs + 1);
  return parts_ * longest;
}

template <class T>
auto ProductWeights::draw_group(int64_t group, Context& context) const -> Panels<T> {
  const int64_t first = group * kGroupPanels, panels = panels_from<T>(first);
  Panels<T> made{AlignedBuffer<T>(panels * panel_size<T>()),
                 AlignedBuffer<T>(panels * bias_size<T>())};
  const Matrix<double> columns_drawn(worker_count(context, panels), longest_column());
  parallel_for(context, panels, [&](int64_t p, int worker) noexcept {
    draw_panel((first + p) * kWidth<T>, columns_drawn.view().row(worker),
               made.weights.data() + p * panel_size<T>(), made.biases.data() + p * bias_size<T>());
  });
  return made;
}

// Columns past the last are zero.
template <class T>
void ProductWeights::draw_panel(int64_t j0, double* column, T* panel, T* bias) const noexcept {
  for (size_t i = 0; i < shape_.factors.size(); ++i) {
    const FactorShape& factor = shape_.factors[i];
    for (int64_t l = 0; l < kWidth<T>; ++l) {
      if (j0 + l < shape_.columns) {
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
void ProductWeights::draw_column(int64_t factor, int64_t l, double* column) const noexcept {
  const FactorShape& one = shape_.factors[factor];
  const random::Stream stream(
      shape_.seed, random::Tag::frequency,
      static_cast<uint64_t>(shape_.first_factor + factor) << 32 | static_cast<uint64_t>(l));
  const std::span out(column, parts_ * (one.inputs + 1));
  if (shape_.complex) {
    gaussian_ ? random::fill_complex_normal(stream, 0, out)
              : random::fill_complex_rademacher(stream, 0, out);
  } else {
    gaussian_ ? random::fill_normal(stream, 0, out) : random::fill_rademacher(stream, 0, out);
  }
}

// Products of n rows with columns [j0, j0 + width): those of the slice c are stored in Z, or summed
// over the rows.
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

class ProductSketch final : public TypedMultilinear<ProductSketch> {
  friend TypedMultilinear<ProductSketch>;

 public:
  ProductSketch(const SketchShape& sketch, bool gaussian)
      : TypedMultilinear(sketch), parts_(sketch.complex ? 2 : 1), weights_(shape(), gaussian) {}

  int64_t tile_rows() const noexcept override { return transform::kTileRows; }

  ImageShape images() const noexcept override { return {columns(), parts_ == 2, share()}; }
  int64_t image_scratch(int64_t rows) const override {
    return scratch_of<float>(rows, 0) + transform::kPanelTransposeScratch<float>;
  }

 private:
  template <class T>
  static constexpr int64_t kWidth = transform::kPanelColumns<T>;

  // The factor by which every column is multiplied.
  double share() const noexcept {
    return shape().scale / std::sqrt(static_cast<double>(columns()));
  }

  // A panel's weights and biases, of factor f and those after it.
  template <class T>
  ProductPanel<T> panel_of(int64_t panel, size_t f) const noexcept {
    int64_t before = 0;
    for (size_t l = 0; l < f; ++l) before += shape().factors[l].inputs;
    const ProductPanel<T> all = weights_.panel<T>(panel);
    return {all.weights + parts_ * before * kWidth<T>,
            all.biases + parts_ * static_cast<int64_t>(f) * kWidth<T>};
  }

  // Scratch: P and the products, each complex, and the products of two imaginary parts.
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
      std::fill(re, re + block, static_cast<T>(share()));
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
    project_factor(rows, inputs, W, n, P);
    if (parts_ == 1) return transform::multiply_block(P, bias, n, kWidth<T>, re);
    transform::multiply_block(P, P + block, bias, bias + kWidth<T>, n, kWidth<T>, re, im);
  }

  // Scratch: one block of P, or two for real and imaginary parts.
  template <class T>
  void project_factor(const FactorRows<T>& rows, int64_t inputs, const T* W, int64_t n,
                      T* P) const noexcept {
    project_rows(rows, rows.dense.re, W, P);
    if (parts_ == 1) return;
    const T* const W_im = W + inputs * kWidth<T>;
    project_rows(rows, rows.dense.re, W_im, P + n * kWidth<T>);
    if (rows.dense.im.data != nullptr) add_imaginary_rows(rows.dense.im, W, W_im, P);
  }

  // P of factor f, panel by panel.
  template <class T>
  void image_rows(size_t f, const FactorRows<T>& rows, bool moves, Planes<T> out,
                  T* P) const noexcept {
    const int64_t n = out.re.rows, block = n * kWidth<T>;
    const bool is_unit = moves && n == 1 && is_nearly_zero(rows.dense);
    for (int64_t j0 = 0; j0 < columns(); j0 += kWidth<T>) {
      const auto [W, bias] = panel_of<T>(j0 / kWidth<T>, f);
      if (is_unit) {
        project_entries(rows.dense.re, W, P);
      } else {
        project_factor(rows, shape().factors[f].inputs, W, n, P);
      }
      for (int64_t part = 0; part < parts_ && !moves; ++part)
        for (int64_t j = 0; j < block; ++j)
          P[part * block + j] += bias[part * kWidth<T> + j % kWidth<T>];
      StoreBlock<T>{{0, columns()}, out, false}(j0, n, P, P + block);
    }
  }

  // A real row of one number or none: a direction that many rows share.
  template <class T>
  static bool is_nearly_zero(const Planes<const T>& row) noexcept {
    const T* const x = row.re.data;
    return row.im.data == nullptr &&
           std::count_if(x, x + row.re.cols, [](T value) { return value != 0; }) <= 1;
  }
  template <class T>
  void project_entries(MatrixView<const T> x, const T* W, T* P) const noexcept {
    std::fill_n(P, parts_ * kWidth<T>, T{0});
    for (int64_t k = 0; k < x.cols; ++k) {
      if (x(0, k) == 0) continue;
      for (int64_t part = 0; part < parts_; ++part)
        for (int64_t j = 0; j < kWidth<T>; ++j)
          P[part * kWidth<T> + j] += x(0, k) * W[(part * x.cols + k) * kWidth<T> + j];
    }
  }

  // out += g conj(W)'.
  template <class T>
  void pull_image(size_t f, Planes<const T> g, Planes<T> out, T* scratch) const noexcept {
    const int64_t n = g.re.rows, block = n * kWidth<T>;
    T *const re = scratch, *const im = re + block, *const turned = im + block;
    for (int64_t j0 = 0; j0 < columns(); j0 += kWidth<T>) {
      const T* const W = panel_of<T>(j0 / kWidth<T>, f).weights;
      const T* const W_im = W + shape().factors[f].inputs * kWidth<T>;
      load_block(g.re, j0, T{1}, re);
      transform::project_panel_transpose(re, W, out.re, turned);
      if (parts_ == 1) continue;
      load_block(g.im, j0, T{1}, im);
      transform::project_panel_transpose(im, W_im, out.re, turned);
      if (out.im.data == nullptr) continue;
      transform::project_panel_transpose(im, W, out.im, turned);
      load_block(g.re, j0, T{-1}, re);
      transform::project_panel_transpose(re, W_im, out.im, turned);
    }
  }

  // Columns [j0, j0 + kWidth) times `sign`, with zeros past the last column.
  template <class T>
  void load_block(MatrixView<const T> g, int64_t j0, T sign, T* P) const noexcept {
    const int64_t count = std::min(kWidth<T>, columns() - j0);
    for (int64_t i = 0; i < g.rows; ++i)
      for (int64_t j = 0; j < kWidth<T>; ++j)
        P[i * kWidth<T> + j] = j < count ? sign * g(i, j0 + j) : T{0};
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
          .fields = {SketchField::real, SketchField::complex, SketchField::complex_to_real},
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
          .kinds_help = "distribution of the projections; rademacher has the lower variance",
          .kinds_former = "weights"};
}

}  // namespace mercer::projection
