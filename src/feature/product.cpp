// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of products of kernels: with z^i the features of part i, N columns each,
//   Z_j = N^{(P-1)/2} prod_{i < P} z^i_j,
// unbiased because the parts are drawn independently and each of their columns alone estimates its
// kernel (SPEC section 6). Columns [cos | sin] or [Re | Im] are multiplied as complex numbers: for
// two Fourier parts exp(i w1'x) exp(i w2'x) = exp(i (w1 + w2)'x), whose frequencies follow the
// product's spectral law. Variances: moment/column_products.h.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/aligned.h"
#include "base/parallel.h"
#include "feature/column_product.h"
#include "feature/column_product_derivative.h"
#include "feature/column_slice.h"
#include "feature/composed_map.h"
#include "feature/derivative_calls.h"
#include "feature/product_map.h"

namespace mercer::feature {
namespace {

// Bytes of the features of one part at a time, which are multiplied while in the cache; but not so
// few rows that threads have nothing to share.
constexpr int64_t kProductBytes = int64_t{1} << 21;
constexpr int64_t kLeastProductRows = 128;
constexpr int64_t kProductRows = 16;

class Product final : public ComposedMap {
 public:
  /// form: that of the product. At least one part has it, the others have it or real columns.
  Product(const MapArguments& arguments, PartMaps maps, ColumnForm form)
      : ComposedMap(arguments, std::move(maps), form == ColumnForm::complex), form_(form) {
    order_.resize(parts().size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = parts()[i].get();
    std::stable_partition(order_.begin(), order_.end(),
                          [form](const FeatureMap* part) { return part->column_form() == form; });
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<decltype(rows)>;
      const MatrixView<T> out = result_of<T>(Z);
      if (rows.rows == 0 || c.begin == c.end) return;
      if (form_ != ColumnForm::halves) return multiply_parts(X, c, context, Factor<T>{form_, out});
      for_each_piece(c, columns(), context, [&](Columns piece) {
        apply_halves(X, piece, context, out.block_cols(piece.begin - c.begin, piece.end - c.begin));
      });
    });
  }

  double variance_at(const double* x, const double* y) const override {
    const ColumnMoments a = moments_of(x, y);
    // Rounding can take a variance of 0 below it; std::max in this order keeps a NaN.
    return std::max(
        (moment::columns_variance(a, columns()) + moment::columns_pseudo_variance(a, columns())) /
            2,
        0.0);
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    if (!is_complex()) return variance_at(x, y);
    return moment::columns_pseudo_variance(moments_of(x, y), columns());
  }
  double bias_at(const double* x, const double* y) const override {
    double mean = 1, exact = 1;
    for (const auto& part : parts()) {
      const double k = part->estimated_kernel(x, y);
      mean *= k + part->moments().bias_at(x, y);
      exact *= k;
    }
    return mean - exact;
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    return moments_of(x, y);
  }

  MERCER_DERIVATIVE_CALLS

  ColumnForm column_form() const noexcept override { return form_; }

 private:
  ColumnProduct product() const noexcept { return {order_, form_, columns(), row_length()}; }
  // Partial derivatives are computed block by block, since each has its own rule.
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const {
    if (what.kind != Derivative::Kind::partials)
      return feature::differentiate_rows(product(), what, X, context, out);
    Stage stage(context, std::ssize(what.partials));
    for (int64_t b = 0; b < std::ssize(what.partials); ++b) {
      const MultiIndex& p = what.partials[b];
      const MatrixView<T> block = out.block_cols(b * row_length(), (b + 1) * row_length());
      stage.share(1);
      if (p.empty()) {
        apply(X, {0, features()}, context, block);
      } else {
        feature::differentiate_rows(product(), {what.kind, {p}}, X, context, block);
      }
      stage.advance(1);
    }
  }
  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    feature::push_rows_forward(product(), X, V, context, out);
  }
  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    feature::pull_rows_back(product(), X, G, context, out);
  }

  int64_t columns() const noexcept {
    return form_ == ColumnForm::halves ? features() / 2 : features();
  }

  ColumnMoments moments_of(const double* x, const double* y) const {
    std::vector<ColumnMoments> own;
    for (const auto& part : parts()) {
      const std::optional<ColumnMoments> columns = part->moments().columns_at(x, y);
      require(columns.has_value(), MERCER_UNSUPPORTED,
              "the columns of map %s depend on each other in ways of no closed form",
              std::string(part->name()).c_str());
      own.push_back(*columns);
    }
    return moment::multiplied(own, columns());
  }

  template <class T>
  static int64_t tile_rows(int64_t width, int64_t n) noexcept {
    return std::min(n,
                    std::max(kLeastProductRows, kProductBytes / (2 * width * int64_t{sizeof(T)})));
  }
  /// Room for `rows` rows of any factor.
  template <class T>
  static Factor<T> in_room(const Matrix<T>& room, ColumnForm form, int64_t rows, int64_t width) {
    const MatrixView<T> all = room.view().block_rows(0, rows);
    if (form == ColumnForm::real) return {form, all.block_cols(0, width)};
    if (form == ColumnForm::complex) return {form, all};
    return {form, all.block_cols(0, width), all.block_cols(width, 2 * width)};
  }

  template <class T>
  static void apply_part(const FeatureMap& part, const Rows& X, Columns h, Context& context,
                         const Factor<T>& to) {
    const int64_t F = part.features() / 2;
    const bool halves = to.form == ColumnForm::halves;
    // If all columns are asked for, both halves lie side by side and come from one projection.
    if (halves && h.end - h.begin == F)
      return part.apply(X, {0, 2 * F}, context,
                        MatrixView<T>(to.first.data, to.first.rows, 2 * F, to.first.ld));
    part.apply(X, h, context, to.first);
    if (halves) part.apply(X, {F + h.begin, F + h.end}, context, to.second);
  }

  /// Z = the products of columns h of all parts; for halves, of columns h of the first half and
  /// their partners.
  template <class T>
  void multiply_parts(const Rows& X, Columns h, Context& context, const Factor<T>& Z) const {
    const int64_t n = X.rows(), width = h.end - h.begin, tile = tile_rows<T>(width, n);
    const Matrix<T> room(tile, 2 * width, context, "the features of one part");
    Stage stage(context, n * std::ssize(order_));
    for (int64_t i0 = 0; i0 < n; i0 += tile) {
      const int64_t count = std::min(tile, n - i0);
      const Rows rows = X.block_rows(i0, i0 + count);
      const Factor<T> product = Z.block_rows(i0, i0 + count);
      for (const FeatureMap* part : order_) {
        stage.share(count);
        if (part == order_.front()) {
          apply_part(*part, rows, h, context, product);
        } else {
          const Factor<T> own = in_room(room, part->column_form(), count, width);
          apply_part(*part, rows, h, context, own);
          multiply_rows(product, own, width, count, context);
        }
        stage.advance(count);
        context.checkpoint();
      }
    }
  }

  template <class T>
  void multiply_rows(const Factor<T>& product, const Factor<T>& by, int64_t width, int64_t rows,
                     Context& context) const {
    const T scale = static_cast<T>(std::sqrt(static_cast<double>(columns())));
    parallel_for(context, (rows - 1) / kProductRows + 1, [&](int64_t chunk, int) noexcept {
      const int64_t end = std::min(rows, (chunk + 1) * kProductRows);
      for (int64_t i = chunk * kProductRows; i < end; ++i)
        multiply_row(product, by, scale, width, i);
    });
  }

  /// In Z itself where it has both halves of all columns, else through a tile that has them.
  template <class T>
  void apply_halves(const Rows& X, Columns c, Context& context, MatrixView<T> Z) const {
    const ColumnSlice slice(columns(), 2, 1, c);
    const projection::Blocks hull = slice.hull();
    const Columns h{hull.begin, hull.end};
    const int64_t n = X.rows(), width = h.end - h.begin;
    if (slice.covers(hull))
      return multiply_parts<T>(
          X, h, context, {form_, Z.block_cols(0, width), Z.block_cols(Z.cols - width, Z.cols)});
    const int64_t tile = tile_rows<T>(width, n);
    const Matrix<T> room(tile, 2 * width, context, "both halves of some columns");
    Stage stage(context, n);
    for (int64_t i0 = 0; i0 < n; i0 += tile) {
      const int64_t count = std::min(tile, n - i0);
      const Factor<T> both = in_room(room, form_, count, width);
      stage.share(count);
      multiply_parts(X.block_rows(i0, i0 + count), h, context, both);
      copy_part(both.first, slice, 0, h, Z.block_rows(i0, i0 + count));
      copy_part(both.second, slice, 1, h, Z.block_rows(i0, i0 + count));
      stage.advance(count);
    }
  }

  template <class T>
  static void copy_part(MatrixView<T> from, const ColumnSlice& slice, int p, Columns h,
                        MatrixView<T> Z) noexcept {
    const projection::Blocks own = slice.part(p);
    if (own.begin == own.end) return;
    for (int64_t i = 0; i < from.rows; ++i)
      std::copy_n(from.row(i) + (own.begin - h.begin), own.end - own.begin,
                  Z.row(i) + slice.offset(p, own.begin));
  }

  ColumnForm form_;
  std::vector<const FeatureMap*> order_;  // the parts, those of the form first
};

}  // namespace

std::unique_ptr<FeatureMap> make_product(const MapArguments& arguments, PartMaps maps,
                                         ColumnForm form) {
  return std::make_unique<Product>(arguments, std::move(maps), form);
}

}  // namespace mercer::feature
