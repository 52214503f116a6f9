// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches as feature maps: tiles of rows through a tree of multilinear maps.
#include "feature/sketch.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"
#include "base/size.h"
#include "feature/derivative_calls.h"
#include "feature/moments.h"
#include "feature/pair_map.h"
#include "feature/sketch_derivative.h"
#include "feature/sketch_plan.h"
#include "feature/sketch_tiles.h"
#include "feature/sketch_tree.h"
#include "moment/linear_variance.h"

namespace mercer::feature {
namespace {

using projection::Blocks;
using projection::Planes;

// Chunks of rows that a small call is cut into.
constexpr int64_t kLeastChunks = 8;
// With fewer products over the factors than this one worker does all.
constexpr double kSerialSketch = 1 << 15;

template <class T>
using Work = SketchTree::Workspace<T>;

class Sketch final : public FeatureMap, public Derivatives, public Moments, public PairMap {
 public:
  Sketch(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D,
         const SketchOptions& options)
      : FeatureMap(d, D, options.field == SketchField::complex),
        kernel_(std::move(kernel)),
        options_(options),
        leaves_(sketch_leaves(*kernel_, d)),
        tree_(plan_sketch(leaves_, D, options)) {}

  std::string_view name() const noexcept override { return sketch_name(options_); }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec;
    spec.set("map", std::string(name()));
    spec.set("kernel", std::make_shared<const Parameters>(kernel_->parameters()));
    spec.set("inputs", inputs());
    spec.set("features", features());
    spec.set("seed", options_.seed);
    add_sketch_parameters(options_, features(), spec);
    return spec;
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<decltype(rows)>;
      apply_rows(rows, c, context, result_of<T>(Z));
    });
  }
  const PairMap* pair() const noexcept override { return leaves_.two ? this : nullptr; }
  void apply_pair(const Rows& X, const Rows& Y, int64_t locations, Columns c, Context& context,
                  const ResultView& Z) const override {
    X.visit([&](const auto& left) {
      using View = std::remove_cvref_t<decltype(left)>;
      using T = RowNumberOf<View>;
      const View* const right = Y.get_if<View>();
      if constexpr (!kIsSparse<View>) {
        if (right != nullptr)
          return apply_two(left, *right, locations, c, context, result_of<T>(Z));
      }
      fail(MERCER_UNSUPPORTED, "rows in two parts are not both dense and of one precision");
    });
  }
  int64_t right_inputs() const noexcept override { return leaves_.second.inputs; }

  const Derivatives* derivatives() const noexcept override { return this; }
  MERCER_DERIVATIVE_CALLS_BY(parts())

  void prepare(Precision precision, Context& context) const override {
    const Blocks all{0, tree_.root().columns()};
    if (precision == Precision::f32) tree_.prepare<float>(all, context);
    if (precision == Precision::f64) tree_.prepare<double>(all, context);
  }

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    return amplitude() * moment::real_variance(pair_moments(x, y));
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    if (!is_complex()) return variance_at(x, y);
    return amplitude() * moment::pseudo_variance(pair_moments(x, y));
  }

  // Single columns estimate the kernel, whatever they have in common with others.
  ColumnForm column_form() const noexcept override {
    switch (layout_field()) {
      case SketchField::real:
        return ColumnForm::real;
      case SketchField::complex:
        return ColumnForm::complex;
      case SketchField::complex_to_real:
        break;
    }
    return ColumnForm::halves;
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    const projection::SketchShape& root = tree_.root().shape();
    const moment::PairMoments own = pair_moments(x, y);
    const double scale = amplitude() * static_cast<double>(root.columns);
    const ColumnMoments one{kernel_->value(inputs(), x, y), scale * own.Q, scale * own.T};
    // Columns of a composition have their inputs in common, whatever is drawn at the root.
    const bool composed = options_.composition != Composition::plain;
    if (root.kind->independent && !composed) return one;
    const bool blocks = root.kind->blocks && !composed;
    const double pseudo = moment::pseudo_variance(own);
    return moment::dependent_columns(
        one, blocks ? projection::sketch_dimension(root.factors) : root.columns,
        root.kind->alike && (blocks || !root.kind->blocks),
        amplitude() * (2 * moment::real_variance(own) - pseudo), amplitude() * pseudo,
        root.columns);
  }

  int64_t incomplete_block() const override {
    const projection::SketchShape& root = tree_.root().shape();
    if (!root.kind->blocks) return 0;
    return root.columns % projection::sketch_dimension(root.factors);
  }

 private:
  SketchParts parts() const { return {tree_, leaves_.first.inputs, layout_field()}; }

  // A projection of [Re | Im] is real.
  SketchField layout_field() const {
    return tree_.root().is_complex() ? options_.field : SketchField::real;
  }

  // Variances are those without the kernel's amplitude.
  double amplitude() const { return kernel_->variance() * kernel_->variance(); }

  moment::PairMoments pair_moments(const double* x, const double* y) const {
    const int64_t left = leaves_.first.inputs;
    return tree_.moments(moment::pair_sums(left, x, y),
                         moment::pair_sums(inputs() - left, x + left, y + left));
  }

  template <class T>
  LeafRows<T> leaf_rows(MatrixView<const T> X) const noexcept {
    if (!leaves_.two) return {{{X, {}}, nullptr}, {}};
    const int64_t left = leaves_.first.inputs;
    return {{{X.block_cols(0, left), {}}, nullptr}, {{X.block_cols(left, X.cols), {}}, nullptr}};
  }

  template <class T>
  void apply_rows(MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z) const {
    run(X.rows, c, context, Z,
        [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes, const Work<T>& work) noexcept {
          tree_.evaluate(leaf_rows(X.block_rows(i0, i1)), i1 - i0, range, planes, work);
        });
  }

  template <class T>
  void apply_rows(const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z) const {
    // In sparse rows the parts of a two-input row are not apart.
    if (leaves_.two) return apply_by_dense_tiles(X, c, context, Z);
    run(X.rows, c, context, Z,
        [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes, const Work<T>& work) noexcept {
          const CsrView<T> rows = X.block_rows(i0, i1);
          tree_.evaluate(LeafRows<T>{{{}, &rows}, {}}, i1 - i0, range, planes, work);
        });
  }

  template <class T>
  void apply_two(MatrixView<const T> X, MatrixView<const T> Y, int64_t locations, Columns c,
                 Context& context, MatrixView<T> Z) const {
    if (locations == 1) {
      return run(Z.rows, c, context, Z,
                 [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes,
                     const Work<T>& work) noexcept {
                   const LeafRows<T> rows{{{X.block_rows(i0, i1), {}}, nullptr},
                                          {{Y.block_rows(i0, i1), {}}, nullptr}};
                   tree_.evaluate(rows, i1 - i0, range, planes, work);
                 });
    }
    const int64_t tile = std::min(tree_.tile_rows(), std::max<int64_t>(locations, 1));
    run_pieces(
        {1, tile}, c, context, Z,
        [&](int64_t i, int64_t, Blocks range, Planes<T> planes, const Work<T>& work) noexcept {
          std::fill_n(planes.re.data, planes.re.cols, T{0});
          if (planes.im.data != nullptr) std::fill_n(planes.im.data, planes.im.cols, T{0});
          for (int64_t l = i * locations; l < (i + 1) * locations; l += tile) {
            const int64_t end = std::min(l + tile, (i + 1) * locations);
            const LeafRows<T> rows{{{X.block_rows(l, end), {}}, nullptr},
                                   {{Y.block_rows(l, end), {}}, nullptr}};
            tree_.evaluate_sum(rows, end - l, range, planes, work);
          }
        });
  }

  // Calls body(i0, i1, range, planes, work), which fills the planes of rows [i0, i1).
  template <class T, class Body>
  void run(int64_t n, Columns c, Context& context, MatrixView<T> Z, const Body& body) const {
    // Little work is not worth waking a worker.
    const double work = static_cast<double>(n) * static_cast<double>(c.end - c.begin) *
                        static_cast<double>(leaves_.degree);
    const int64_t chunks = work < kSerialSketch ? 1 : kLeastChunks;
    const int64_t tile = std::clamp(ceil_divide(n, chunks), int64_t{1}, tree_.tile_rows());
    run_pieces({tile, tile}, c, context, Z, body);
  }

  template <class T, class Body>
  void run_pieces(SketchRows rows, Columns c, Context& context, MatrixView<T> Z,
                  const Body& body) const {
    if (Z.rows == 0 || c.begin == c.end) return;
    const SketchField field = layout_field();
    const int64_t reals = field == SketchField::complex ? 2 : 1;
    for_each_piece(c, tree_.root().columns(), context, [&](Columns piece) {
      const MatrixView<T> own =
          Z.block_cols((piece.begin - c.begin) * reals, (piece.end - c.begin) * reals);
      run_tiles(SketchTiles<T, Body>(tree_, field, rows, piece, own, body), context);
    });
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  SketchOptions options_;
  SketchLeaves leaves_;
  SketchTree tree_;
};

}  // namespace

std::unique_ptr<FeatureMap> make_sketch(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const SketchOptions& options) {
  kernel.check_dimension(d);
  check_sketch_columns("features", D);
  const StandardRounding rounding;
  return std::make_unique<Sketch>(kernel.with_variance(kernel.variance()), d, D, options);
}

}  // namespace mercer::feature
