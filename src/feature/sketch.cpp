// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Polynomial sketches as feature maps: tiles of rows through a tree of multilinear maps, and the
// columns laid out as the field asks. Complex-to-real (Wacker, Ohana, Filippone 2023): a complex
// estimate's real part is the inner product of [Re | Im].
#include "feature/sketch.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/float_environment.h"
#include "base/parallel.h"
#include "feature/sketch_plan.h"
#include "feature/sketch_tree.h"
#include "moment/linear_variance.h"
#include "transform/product.h"
#include "transform/stream_copy.h"

namespace mercer::feature {
namespace {

using projection::Blocks;
using projection::Planes;

// Chunks of rows that a small call is cut into.
constexpr int64_t kLeastChunks = 8;
// Products over the factors of fewer columns than this are done by one worker.
constexpr double kSerialWork = 1 << 15;

template <class T>
using Work = SketchTree::Workspace<T>;

// Where columns c of a map go, from the tree's columns `range`.
template <class T>
class Layout {
 public:
  Layout(SketchField field, int64_t F, Columns c, MatrixView<T> Z) : field_(field), F_(F), c_(c) {
    around_caches_ = Z.rows * Z.cols * static_cast<int64_t>(sizeof(T)) >= transform::kStreamBytes;
    range_ = {c.begin, c.end};
    if (field != SketchField::complex_to_real || c.end <= F) return;
    range_ = c.begin >= F ? Blocks{c.begin - F, c.end - F} : Blocks{0, F};
  }

  Blocks range() const noexcept { return range_; }
  /// Numbers per row of a buffer for both planes; 0: the tree writes into Z.
  int64_t buffer_size() const noexcept {
    return is_direct() ? 0 : 2 * ((range_.end - range_.begin + 15) / 16 * 16);
  }

  /// What the tree writes for the rows of Z.
  Planes<T> planes(MatrixView<T> Z, T* buffer) const noexcept {
    if (field_ == SketchField::real) return {Z, {}, around_caches_};
    if (is_direct()) return {Z.block_cols(0, F_), Z.block_cols(F_, 2 * F_), around_caches_};
    const int64_t half = buffer_size() / 2, count = range_.end - range_.begin;
    return {{buffer, Z.rows, count, 2 * half}, {buffer + half, Z.rows, count, 2 * half}};
  }

  /// Moves what is in a buffer to Z.
  void finish(Planes<T> planes, MatrixView<T> Z) const noexcept {
    if (is_direct()) return;
    for (int64_t i = 0; i < Z.rows; ++i) {
      const T *const re = planes.re.row(i), *const im = planes.im.row(i);
      if (field_ == SketchField::complex) {
        transform::interleave(re, im, range_.end - range_.begin, Z.row(i));
        continue;
      }
      copy_part(re, 0, Z.row(i));
      copy_part(im, F_, Z.row(i));
    }
  }

 private:
  bool is_direct() const noexcept {
    return field_ == SketchField::real ||
           (field_ == SketchField::complex_to_real && c_.begin == 0 && c_.end == 2 * F_);
  }

  // The columns of one part, numbered from `first` in the map, that are in the slice.
  void copy_part(const T* from, int64_t first, T* z) const noexcept {
    const int64_t begin = std::max(c_.begin, first + range_.begin);
    const int64_t end = std::min(c_.end, first + range_.end);
    if (begin >= end || begin >= first + F_) return;
    std::copy(from + (begin - first - range_.begin), from + (end - first - range_.begin),
              z + (begin - c_.begin));
  }

  SketchField field_;
  int64_t F_;
  Columns c_;
  Blocks range_{};
  bool around_caches_;
};

class Sketch final : public FeatureMap {
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
  void apply_pair(const Rows& X, const Rows& Y, int64_t locations, Columns c, Context& context,
                  const ResultView& Z) const override {
    if (!leaves_.two) return FeatureMap::apply_pair(X, Y, locations, c, context, Z);
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
  int64_t right_inputs() const override { return leaves_.two ? leaves_.second.inputs : 0; }

  void prepare(Precision precision, Context& context) const override {
    const Blocks all{0, tree_.root().columns()};
    if (precision == Precision::f32) tree_.prepare<float>(all, context);
    if (precision == Precision::f64) tree_.prepare<double>(all, context);
  }

  void variance(MatrixView<const double> X, MatrixView<const double> Y,
                std::span<double> out) const override {
    for (int64_t i = 0; i < X.rows; ++i)
      out[static_cast<size_t>(i)] = amplitude() * moment::real_variance(moments(X, Y, i));
  }
  void pseudo_variance(MatrixView<const double> X, MatrixView<const double> Y,
                       std::span<double> out) const override {
    if (!is_complex()) return variance(X, Y, out);
    for (int64_t i = 0; i < X.rows; ++i)
      out[static_cast<size_t>(i)] = amplitude() * moment::pseudo_variance(moments(X, Y, i));
  }

  int64_t incomplete_block() const override {
    const projection::SketchShape& root = tree_.root().shape();
    if (root.mixing != projection::Mixing::stacked) return 0;
    return root.columns % projection::sketch_dimension(root.factors);
  }

 private:
  // A projection of [Re | Im] is real.
  SketchField layout_field() const {
    return tree_.root().is_complex() ? options_.field : SketchField::real;
  }

  // Variances are of the estimate of the kernel without its amplitude.
  double amplitude() const { return kernel_->variance() * kernel_->variance(); }

  moment::PairMoments moments(MatrixView<const double> X, MatrixView<const double> Y,
                              int64_t i) const {
    const int64_t left = leaves_.first.inputs;
    return tree_.moments(moment::pair_sums(left, X.row(i), Y.row(i)),
                         moment::pair_sums(inputs() - left, X.row(i) + left, Y.row(i) + left));
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
        [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes, Work<T>& work) noexcept {
          tree_.evaluate(leaf_rows(X.block_rows(i0, i1)), i1 - i0, range, planes, work);
        });
  }

  template <class T>
  void apply_rows(const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z) const {
    // The parts of a two-input row are not apart in a sparse one.
    if (leaves_.two) return apply_by_dense_tiles(X, c, context, Z);
    run(X.rows, c, context, Z,
        [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes, Work<T>& work) noexcept {
          const CsrView<T> rows = X.block_rows(i0, i1);
          tree_.evaluate(LeafRows<T>{{{}, &rows}, {}}, i1 - i0, range, planes, work);
        });
  }

  template <class T>
  void apply_two(MatrixView<const T> X, MatrixView<const T> Y, int64_t locations, Columns c,
                 Context& context, MatrixView<T> Z) const {
    if (locations == 1) {
      return run(
          Z.rows, c, context, Z,
          [&](int64_t i0, int64_t i1, Blocks range, Planes<T> planes, Work<T>& work) noexcept {
            const LeafRows<T> rows{{{X.block_rows(i0, i1), {}}, nullptr},
                                   {{Y.block_rows(i0, i1), {}}, nullptr}};
            tree_.evaluate(rows, i1 - i0, range, planes, work);
          });
    }
    const int64_t tile = std::min(tree_.tile_rows(), std::max<int64_t>(locations, 1));
    run_tiles(Z.rows, 1, tile, c, context, Z,
              [&](int64_t i, int64_t, Blocks range, Planes<T> planes, Work<T>& work) noexcept {
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

  // body(i0, i1, range, planes, work) fills the planes of rows [i0, i1).
  template <class T, class Body>
  void run(int64_t n, Columns c, Context& context, MatrixView<T> Z, const Body& body) const {
    // Little work is not worth waking a worker.
    const double work = static_cast<double>(n) * static_cast<double>(c.end - c.begin) *
                        static_cast<double>(leaves_.degree);
    const int64_t chunks = work < kSerialWork ? 1 : kLeastChunks;
    const int64_t tile = std::clamp((n + chunks - 1) / chunks, int64_t{1}, tree_.tile_rows());
    run_tiles(n, tile, tile, c, context, Z, body);
  }

  // A slice with the end of the real parts and the beginning of the imaginary ones needs no column
  // in between: its two parts are then done one after the other.
  template <class T, class Body>
  void run_tiles(int64_t n, int64_t tile, int64_t work_rows, Columns c, Context& context,
                 MatrixView<T> Z, const Body& body) const {
    const int64_t F = tree_.root().columns();
    if (n == 0 || c.begin == c.end) return;
    if (layout_field() == SketchField::complex_to_real && c.begin < F && c.end > F &&
        c.end - F < c.begin) {
      const int64_t cut = F - c.begin;
      run_tiles(n, tile, work_rows, {c.begin, F}, context, Z.block_cols(0, cut), body);
      return run_tiles(n, tile, work_rows, {F, c.end}, context, Z.block_cols(cut, Z.cols), body);
    }
    const Layout<T> layout(layout_field(), F, c, Z);
    tree_.prepare<T>(layout.range(), context);
    const int64_t chunks = (n - 1) / tile + 1;
    const int workers = worker_count(context, chunks);
    const int64_t width = layout.range().end - layout.range().begin;
    const int64_t buffer_size = checked_multiply(layout.buffer_size(), tile, "a tile of Z");
    const int64_t bytes = checked_add(
        tree_.workspace_bytes<T>(work_rows, width),
        checked_multiply(buffer_size, static_cast<int64_t>(sizeof(T)), "a tile of Z"), "a tile");
    const MemoryCharge charge =
        context.charge(checked_multiply(workers, bytes, "tiles"), "the tiles of all threads");
    std::vector<Work<T>> work;
    for (int w = 0; w < workers; ++w) work.push_back(tree_.make_workspace<T>(work_rows, width));
    const AlignedBuffer<T> buffers(checked_multiply(workers, buffer_size, "tiles"));
    parallel_for(
        context, chunks,
        [&](int64_t chunk, int worker) noexcept {
          const int64_t i0 = chunk * tile, i1 = std::min(i0 + tile, n);
          const MatrixView<T> rows = Z.block_rows(i0, i1);
          const Planes<T> planes = layout.planes(rows, buffers.data() + worker * buffer_size);
          body(i0, i1, layout.range(), planes, work[static_cast<size_t>(worker)]);
          layout.finish(planes, rows);
        },
        tile);
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
