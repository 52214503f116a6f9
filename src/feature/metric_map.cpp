// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Maps of a kernel k0(A x, A y): any map of k0 for r inputs, at A x. Blocks of rows are multiplied
// by A, which costs r d of a dense row and r for each stored number of a sparse one, and mapped.
// What the map of k0 has at A x is handed on: moments, entries, factors, row scales, and
// derivatives, dz/dx = A' dz/du.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "feature/composed_map.h"
#include "feature/derivatives.h"
#include "feature/kernel_field.h"
#include "feature/projected_map.h"
#include "feature/tiles.h"
#include "projection/dense.h"
#include "transform/epilogue.h"

namespace mercer::feature {
namespace {

// Bytes of rows A x at a time, and of derivatives of the map of k0.
constexpr int64_t kMetricBytes = int64_t{8} << 20;
constexpr const char* kMetricRows = "a block of rows in the metric";
constexpr int64_t kMostMetricOrder = 2;

using SharedKernel = std::shared_ptr<const kernel::Kernel>;

/// The columns of A' as those of a projection.
class RowsOfMatrix final : public projection::FrequencySource {
 public:
  explicit RowsOfMatrix(SharedKernel kernel) : kernel_(std::move(kernel)) {}
  void fill(int64_t j0, Context&, MatrixView<double> omega) const override {
    const MatrixView<const double> A = kernel_->traits().metric->A.view();
    for (int64_t j = 0; j < omega.rows; ++j) std::copy_n(A.row(j0 + j), omega.cols, omega.row(j));
  }

 private:
  SharedKernel kernel_;
};

/// Z = X A'.
class MetricRows final : public ProjectedMap {
 public:
  explicit MetricRows(const SharedKernel& kernel) : ProjectedMap(parts(kernel)), kernel_(kernel) {}
  std::string_view name() const noexcept override { return "linear"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override { return common_parameters(0); }

 private:
  static ProjectedParts parts(const SharedKernel& kernel) {
    const Matrix<double>& A = kernel->traits().metric->A;
    ProjectedParts made;
    made.projections.push_back(projection::make_dense(
        A.cols(), A.rows(), std::make_shared<RowsOfMatrix>(kernel), projection::Unit::plain));
    made.epilogue = transform::scale_epilogue();
    return made;
  }

  SharedKernel kernel_;
};

/// The moments of a map at A x.
class MetricMoments final : public Moments {
 public:
  /// scaled: of RowScales.
  MetricMoments(const kernel::Metric& metric, const FeatureMap& map, bool scaled)
      : metric_(metric), map_(map), scaled_(scaled) {}

  const Moments& own() const {
    return scaled_ ? map_.row_scales()->scaled_moments() : map_.moments();
  }
  std::vector<double> at(const double* x) const {
    std::vector<double> u(metric_.A.rows());
    metric_.multiply(x, u.data());
    return u;
  }

  double variance_at(const double* x, const double* y) const override {
    return own().variance_at(at(x).data(), at(y).data());
  }
  bool is_exact() const override { return own().is_exact(); }
  double pseudo_variance_at(const double* x, const double* y) const override {
    return own().pseudo_variance_at(at(x).data(), at(y).data());
  }
  double bias_at(const double* x, const double* y) const override {
    return own().bias_at(at(x).data(), at(y).data());
  }
  std::optional<double> covariance_at(const double* x, const double* y,
                                      const double* z) const override {
    return own().covariance_at(at(x).data(), at(y).data(), at(z).data());
  }
  std::optional<ColumnMoments> columns_at(const double* x, const double* y) const override {
    return own().columns_at(at(x).data(), at(y).data());
  }

 private:
  const kernel::Metric& metric_;
  const FeatureMap& map_;
  bool scaled_;
};

class MetricMap final : public FeatureMap,
                        public Derivatives,
                        public SparseFeatures,
                        public RowScales,
                        public KernelColumns {
 public:
  MetricMap(SharedKernel kernel, std::shared_ptr<const MetricRows> rows,
            std::shared_ptr<const FeatureMap> map)
      : FeatureMap(rows->inputs(), map->features(), map->is_complex()),
        kernel_(std::move(kernel)),
        rows_(std::move(rows)),
        map_(std::move(map)),
        moments_(*kernel_->traits().metric, *map_, false),
        scaled_moments_(*kernel_->traits().metric, *map_, true) {
    const Factors own = map_->factors();
    if (own.left != nullptr)
      left_ = std::make_unique<const MetricMap>(kernel_, rows_,
                                                std::shared_ptr<const FeatureMap>(map_, own.left));
  }

  std::string_view name() const noexcept override { return map_->name(); }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = map_->parameters();
    spec.set("kernel", std::make_shared<const Parameters>(kernel_->parameters()));
    spec.set("inputs", inputs());
    return spec;
  }
  std::vector<NumberArray> numbers() const override { return map_->numbers(); }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&]<class View>(const View& /*rows*/) {
      using T = RowNumberOf<View>;
      const MatrixView<T> out = result_of<T>(Z);
      if (c.begin == c.end) return;
      for_each_block<T>(X, context, [&](int64_t i0, int64_t i1, MatrixView<const T> U) {
        map_->apply(U, c, context, out.block_rows(i0, i1));
      });
    });
  }
  void prepare(Precision precision, Context& context) const override {
    Stage stage(context, 2);
    stage.part(1, [&] { rows_->prepare(precision, context); });
    stage.part(1, [&] { map_->prepare(precision, context); });
  }

  bool shows_other_rows() const noexcept override { return map_->shows_other_rows(); }
  double estimated_kernel(const double* x, const double* y) const override {
    return map_->estimated_kernel(moments_.at(x).data(), moments_.at(y).data());
  }
  const Moments& moments() const override {
    map_->moments();  // refuses
    return moments_;
  }
  ColumnForm column_form() const noexcept override { return map_->column_form(); }
  bool has_kernel_columns() const noexcept override { return map_->has_kernel_columns(); }
  Rows kept() const override { return kernel_columns_of(*map_)->kept(); }
  const kernel::Kernel& of_kept() const override { return kernel_columns_of(*map_)->of_kept(); }
  int64_t incomplete_block() const override { return map_->incomplete_block(); }
  bool is_of_scaled_inputs() const override { return map_->is_of_scaled_inputs(); }
  std::optional<UniformCosines> uniform_cosines() const override { return map_->uniform_cosines(); }
  Factors factors() const noexcept override {
    Factors own = map_->factors();
    own.left = left_.get();
    return own;
  }

  const SparseFeatures* sparse_features() const noexcept override {
    return map_->sparse_features() != nullptr ? this : nullptr;
  }
  int64_t entries() const noexcept override { return map_->sparse_features()->entries(); }
  void find_entries(MatrixView<const double> X, Context& context, MatrixView<int64_t> columns,
                    MatrixView<double> values) const override {
    for_each_block<double>(X, context, [&](int64_t i0, int64_t i1, MatrixView<const double> U) {
      map_->sparse_features()->find_entries(U, context, columns.block_rows(i0, i1),
                                            values.block_rows(i0, i1));
    });
  }

  const RowScales* row_scales() const noexcept override {
    return map_->row_scales() != nullptr ? this : nullptr;
  }
  void apply_scaled(const Rows& X, Context& context, const ResultView& Z,
                    std::span<double> logs) const override {
    X.visit([&]<class View>(const View&) {
      using T = RowNumberOf<View>;
      const MatrixView<T> out = result_of<T>(Z);
      for_each_block<T>(X, context, [&](int64_t i0, int64_t i1, MatrixView<const T> U) {
        map_->row_scales()->apply_scaled(U, context, out.block_rows(i0, i1),
                                         logs.subspan(i0, i1 - i0));
      });
    });
  }
  void pull_scaled_back(MatrixView<const float> X, MatrixView<const float> Z,
                        MatrixView<const float> G, Context& context,
                        MatrixView<float> out) const override {
    pull_scaled(X, Z, G, context, out);
  }
  void pull_scaled_back(MatrixView<const double> X, MatrixView<const double> Z,
                        MatrixView<const double> G, Context& context,
                        MatrixView<double> out) const override {
    pull_scaled(X, Z, G, context, out);
  }
  const Moments& scaled_moments() const override {
    map_->row_scales()->scaled_moments();  // refuses
    return scaled_moments_;
  }

  const Derivatives* derivatives() const noexcept override {
    return map_->derivatives() != nullptr ? this : nullptr;
  }
  int64_t most_order() const noexcept override {
    return std::min(map_->derivatives()->most_order(), kMostMetricOrder);
  }
  MERCER_DERIVATIVE_CALLS

 private:
  /// body(i0, i1, U) for blocks of rows, U = A X_i of rows [i0, i1).
  template <class T, class Body>
  void for_each_block(const Rows& X, Context& context, const Body& body) const {
    const int64_t n = X.rows(), r = rows_->features();
    if (n == 0) return;
    const int64_t size = std::clamp(kMetricBytes / (r * int64_t{sizeof(T)}), int64_t{1}, n);
    const Matrix<T> block(size, r, context, kMetricRows);
    Stage stage(context, 2 * n);
    for (int64_t i0 = 0; i0 < n; i0 += size) {
      const int64_t i1 = std::min(n, i0 + size);
      const MatrixView<T> U = block.view().block_rows(0, i1 - i0);
      stage.share(i1 - i0);
      rows_->apply(X.block_rows(i0, i1), {0, r}, context, U);
      stage.advance(i1 - i0);
      stage.share(i1 - i0);
      body(i0, i1, MatrixView<const T>(U));
      stage.advance(i1 - i0);
      context.checkpoint();
    }
  }

  /// out(i, :) = A' times what pull(i0, i1, U, slopes) gives for rows [i0, i1).
  template <class T, class Pull>
  void pull_through(MatrixView<const T> X, Context& context, MatrixView<T> out,
                    const Pull& pull) const {
    for_each_block<T>(X, context, [&](int64_t i0, int64_t i1, MatrixView<const T> U) {
      const Matrix<T> slopes(U.rows, U.cols, context, kMetricRows);
      pull(i0, i1, U, slopes.view());
      rows_->pull_back(X.block_rows(i0, i1), slopes.view(), context, out.block_rows(i0, i1));
    });
  }
  template <class T>
  void pull_scaled(MatrixView<const T> X, MatrixView<const T> Z, MatrixView<const T> G,
                   Context& context, MatrixView<T> out) const {
    pull_through(X, context, out, [&](int64_t i0, int64_t i1, auto U, auto slopes) {
      map_->row_scales()->pull_scaled_back(U, Z.block_rows(i0, i1), G.block_rows(i0, i1), context,
                                           slopes);
    });
  }
  template <class T>
  void pull_rows_back(MatrixView<const T> X, MatrixView<const T> G, Context& context,
                      MatrixView<T> out) const {
    pull_through(X, context, out, [&](int64_t i0, int64_t i1, auto U, auto slopes) {
      map_->derivatives()->pull_back(U, G.block_rows(i0, i1), context, slopes);
    });
  }
  template <class T>
  void push_rows_forward(MatrixView<const T> X, MatrixView<const T> V, Context& context,
                         MatrixView<T> out) const {
    for_each_block<T>(X, context, [&](int64_t i0, int64_t i1, MatrixView<const T> U) {
      const Matrix<T> along(U.rows, U.cols, context, kMetricRows);
      rows_->apply(V.block_rows(i0, i1), {0, U.cols}, context, along.view());
      map_->derivatives()->push_forward(U, along.view(), context, out.block_rows(i0, i1));
    });
  }

  /// A derivative of the map of k0, and which blocks of the result it is added to, times what.
  struct Term {
    MultiIndex partial;
    std::vector<std::pair<int64_t, double>> blocks;
  };
  std::vector<Term> terms_of(const Derivative& what) const;
  template <class T>
  void add_terms(std::span<const Term> terms, MatrixView<const T> U, Context& context,
                 MatrixView<T> tile, MatrixView<T> out) const;
  template <class T>
  void differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                          MatrixView<T> out) const;

  SharedKernel kernel_;
  std::shared_ptr<const MetricRows> rows_;
  std::shared_ptr<const FeatureMap> map_;
  MetricMoments moments_, scaled_moments_;
  std::unique_ptr<const MetricMap> left_;  // of factors()
};

std::vector<MetricMap::Term> MetricMap::terms_of(const Derivative& what) const {
  const auto order = [](const MultiIndex& p) {
    std::vector<std::pair<int64_t, int64_t>> key;
    for (const kernel::PartialFactor& one : p) key.emplace_back(one.input, one.order);
    return key;
  };
  std::map<std::vector<std::pair<int64_t, int64_t>>, size_t> places;
  std::vector<Term> terms;
  const std::vector<std::vector<MultiIndex>> blocks = partials_of(what, inputs());
  for (int64_t b = 0; b < std::ssize(blocks); ++b) {
    for (const MultiIndex& p : blocks[b]) {
      for (const auto& [partial, factor] : kernel_->traits().metric->chain(p)) {
        const auto [place, is_new] = places.try_emplace(order(partial), terms.size());
        if (is_new) terms.push_back({partial, {}});
        auto& to = terms[place->second].blocks;
        if (to.empty() || to.back().first != b) to.emplace_back(b, 0.0);
        to.back().second += factor;
      }
    }
  }
  return terms;
}

template <class T>
void MetricMap::add_terms(std::span<const Term> terms, MatrixView<const T> U, Context& context,
                          MatrixView<T> tile, MatrixView<T> out) const {
  Derivative own{Derivative::Kind::partials};
  for (const Term& term : terms) own.partials.push_back(term.partial);
  map_->derivatives()->differentiate(own, U, context, tile);
  const int64_t width = row_length();
  parallel_for(context, U.rows, [&](int64_t i, int) noexcept {
    const T* from = tile.row(i);
    for (const Term& term : terms) {
      for (const auto& [block, factor] : term.blocks) {
        T* const to = out.row(i) + block * width;
        for (int64_t j = 0; j < width; ++j) to[j] += static_cast<T>(factor) * from[j];
      }
      from += width;
    }
  });
}

template <class T>
void MetricMap::differentiate_rows(const Derivative& what, MatrixView<const T> X, Context& context,
                                   MatrixView<T> out) const {
  const std::vector<Term> terms = terms_of(what);
  for (int64_t i = 0; i < X.rows; ++i) std::fill_n(out.row(i), out.cols, T{0});
  if (X.rows == 0 || terms.empty()) return;
  const int64_t row = row_length() * int64_t{sizeof(T)}, all = std::ssize(terms);
  const int64_t together = std::clamp(kMetricBytes / row, int64_t{1}, all);
  const int64_t size = std::clamp(kMetricBytes / (row * together), int64_t{1}, X.rows);
  const Matrix<T> tile(size, together * row_length(), context, "derivatives in the metric");
  for_each_block<T>(X, context, [&](int64_t first, int64_t last, MatrixView<const T> U) {
    for (int64_t i0 = first; i0 < last; i0 += size) {
      const int64_t i1 = std::min(last, i0 + size);
      for (int64_t t0 = 0; t0 < all; t0 += together) {
        const int64_t t1 = std::min(all, t0 + together);
        // Without gaps, whatever its width.
        const MatrixView<T> some(tile.data(), i1 - i0, (t1 - t0) * row_length());
        add_terms<T>(std::span(terms).subspan(t0, t1 - t0), U.block_rows(i0 - first, i1 - first),
                     context, some, out.block_rows(i0, i1));
      }
      context.checkpoint();
    }
  });
}

}  // namespace

Parameters in_metric(const Parameters& canonical) {
  const Parameters& kernel = canonical.object("kernel");
  Parameters inner = canonical;
  inner.set("kernel", std::make_shared<const Parameters>(kernel.object("of")));
  inner.set("inputs", static_cast<int64_t>(kernel.number_lists("matrix").size()));
  return inner;
}

std::unique_ptr<FeatureMap> make_metric_map(const Parameters& canonical, SharedKernel kernel,
                                            const MapData& data) {
  const kernel::Metric& metric = *kernel->traits().metric;
  kernel->check_dimension(canonical.integer("inputs"));
  Parameters inner = in_metric(canonical);
  inner.set("kernel", std::make_shared<const Parameters>(metric.kernel->parameters()));
  auto rows = std::make_shared<const MetricRows>(kernel);
  MapData own = data;
  std::unique_ptr<FeatureMap> map;
  if (data.rows != nullptr) {
    require(data.rows->cols() == rows->inputs(), MERCER_DIMENSION_MISMATCH,
            "rows have %ld columns, expected inputs = %ld", data.rows->cols(), rows->inputs());
    require_inputs(*kernel, *data.rows);
    data.rows->visit([&]<class View>(const View& X) {
      using T = RowNumberOf<View>;
      const Matrix<T> U(X.rows, metric.A.rows(), *data.context, "the rows of a map in its metric");
      if (X.rows > 0) rows->apply(X, {0, rows->features()}, *data.context, U.view());
      const Rows multiplied = U.view();
      own.rows = &multiplied;
      map = make_map(inner, own);
    });
  } else {
    map = make_map(inner, own);
  }
  return std::make_unique<MetricMap>(std::move(kernel), std::move(rows), std::move(map));
}

}  // namespace mercer::feature
