// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z = sqrt(variance gamma / D) X W with Gaussian or Rademacher W (Johnson, Lindenstrauss 1984;
// Achlioptas 2003) or the SRHT (Ailon, Chazelle 2006), in tiles like every projected map; and
// Z = sqrt(variance gamma) CX with C a CountSketch, one addition per entry of X.
#include "feature/linear.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/float_environment.h"
#include "base/parallel.h"
#include "feature/column_numbers.h"
#include "feature/tile.h"
#include "moment/linear_variance.h"
#include "projection/count_sketch.h"
#include "projection/lazy_groups.h"
#include "projection/projections.h"
#include "projection/srht.h"

namespace mercer::feature {
namespace {

// The limit of specs, and so of files.
constexpr int64_t kMostColumns = (int64_t{1} << 31) - 1;
constexpr const char* kNames[] = {"gaussian", "rademacher", "srht", "countsketch"};

class Linear : public FeatureMap {
 public:
  Linear(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D,
         const LinearOptions& options)
      : FeatureMap(d, D, false), kernel_(std::move(kernel)), options_(options) {}

  std::string_view name() const noexcept final { return "linear"; }
  const kernel::Kernel& kernel() const noexcept final { return *kernel_; }

  Parameters parameters() const final {
    Parameters spec;
    spec.set("map", std::string(name()));
    spec.set("kernel", std::make_shared<const Parameters>(kernel_->parameters()));
    spec.set("inputs", inputs());
    spec.set("features", features());
    spec.set("seed", options_.seed);
    spec.set("projection", std::string(kNames[static_cast<int>(options_.projection)]));
    return spec;
  }

  void variance(MatrixView<const double> X, MatrixView<const double> Y,
                std::span<double> out) const final {
    for (int64_t i = 0; i < X.rows; ++i) {
      const moment::PairSums sums = moment::pair_sums(X.cols, X.row(i), Y.row(i));
      out[static_cast<size_t>(i)] = factor() * factor() * plain_variance(sums);
    }
  }
  void pseudo_variance(MatrixView<const double> X, MatrixView<const double> Y,
                       std::span<double> out) const final {
    variance(X, Y, out);
  }

 protected:
  /// Of x'y in the kernel.
  double factor() const { return kernel_->variance() * kernel_->parameters().number("gamma"); }
  const LinearOptions& options() const noexcept { return options_; }

 private:
  // Of the estimate of x'y.
  double plain_variance(const moment::PairSums& sums) const {
    switch (options_.projection) {
      case LinearProjection::gaussian:
        return moment::gaussian_entries_variance(sums, features());
      case LinearProjection::srht:
        return moment::srht_variance(sums, projection::srht_dimension(inputs()), features());
      case LinearProjection::rademacher:
      case LinearProjection::countsketch:
        break;
    }
    return moment::rademacher_entries_variance(sums, features());
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  LinearOptions options_;
};

// XW in tiles.
class ProjectedLinear final : public Linear {
 public:
  ProjectedLinear(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D,
                  const LinearOptions& options)
      : Linear(std::move(kernel), d, D, options),
        projection_(make_projection()),
        single_(D, projection_->shape(float{}).columns, {scale()}),
        double_(D, projection_->shape(double{}).columns, {scale()}) {}

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<decltype(rows)>;
      apply_tiles(*projection_, finish(columns(T{})), rows, c, context, result_of<T>(Z));
    });
  }

  void prepare(Precision precision, Context& context) const override {
    if (precision == Precision::f32) prepare_all(single_, context);
    if (precision == Precision::f64) prepare_all(double_, context);
  }

 private:
  const ColumnNumbers<float>& columns(float) const noexcept { return single_; }
  const ColumnNumbers<double>& columns(double) const noexcept { return double_; }

  std::unique_ptr<projection::Projection> make_projection() const {
    if (options().projection == LinearProjection::srht) {
      return projection::make_srht(inputs(), features(), options().seed);
    }
    const bool gaussian = options().projection == LinearProjection::gaussian;
    return projection::kDense.make({gaussian ? random::normal_law() : random::sign_law(),
                                    {},
                                    projection::Unit::plain,
                                    inputs(),
                                    features(),
                                    options().seed});
  }

  double scale() const { return std::sqrt(factor() / static_cast<double>(features())); }

  template <class T>
  void prepare_all(const ColumnNumbers<T>& columns, Context& context) const {
    const projection::Blocks all{0, (features() - 1) / projection_->shape(T{}).columns + 1};
    projection_->prepare(all, T{}, context);
    columns.prepare(all, context);
  }

  template <class T>
  Finish<T> finish(const ColumnNumbers<T>& columns) const {
    return {transform::finish_scale, 1, 1, columns, {}};
  }

  std::unique_ptr<projection::Projection> projection_;
  ColumnNumbers<float> single_;
  ColumnNumbers<double> double_;
};

// Rows of a chunk: about this many numbers are read or written.
constexpr int64_t kChunkNumbers = int64_t{1} << 16;

class SketchedLinear final : public Linear {
 public:
  SketchedLinear(std::unique_ptr<const kernel::Kernel> kernel, int64_t d, int64_t D,
                 const LinearOptions& options)
      : Linear(std::move(kernel), d, D, options), sketch_(1) {
    projection::CountSketch::check_extents(d, D);
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      using T = RowNumberOf<decltype(rows)>;
      int64_t row_numbers = rows.cols;
      if constexpr (kIsSparse<decltype(rows)>)
        row_numbers = rows.nonzeros() / std::max<int64_t>(rows.rows, 1);
      sketch_rows(rows, row_numbers, c, context, result_of<T>(Z));
    });
  }

  // h and s serve both precisions.
  void prepare(Precision, Context& context) const override {
    using projection::CountSketch;
    constexpr const char* kWhat = "a CountSketch";
    const projection::GroupCost cost{checked_multiply(inputs(), CountSketch::kBytesKept, kWhat),
                                     checked_multiply(inputs(), CountSketch::kBytesToDraw, kWhat),
                                     kWhat};
    sketch_.prepare(0, cost, context, [this](int64_t) {
      return CountSketch::draw(options().seed, 0, inputs(), features());
    });
  }

 private:
  template <class View, class T>
  void sketch_rows(const View& X, int64_t row_numbers, Columns c, Context& context,
                   MatrixView<T> Z) const {
    prepare(Precision::f64, context);
    const auto scale = static_cast<T>(std::sqrt(factor()));
    const int64_t chunk_rows = kChunkNumbers / (row_numbers + Z.cols + 1) + 1;
    const auto body = [&](int64_t chunk, int) noexcept {
      const int64_t last = std::min((chunk + 1) * chunk_rows, X.rows);
      for (int64_t i = chunk * chunk_rows; i < last; ++i) {
        std::fill(Z.row(i), Z.row(i) + Z.cols, T{0});
        add_row_of(X, i, c, Z.row(i));
        if (scale != T{1}) std::for_each(Z.row(i), Z.row(i) + Z.cols, [&](T& z) { z *= scale; });
      }
    };
    parallel_for(context, (X.rows + chunk_rows - 1) / chunk_rows, body, chunk_rows);
  }

  template <class T>
  void add_row_of(MatrixView<const T> X, int64_t i, Columns c, T* z) const noexcept {
    sketch_[0].add(X.row(i), c.begin, c.end, z);
  }
  template <class T>
  void add_row_of(const CsrView<T>& X, int64_t i, Columns c, T* z) const noexcept {
    sketch_[0].add(X, i, c.begin, c.end, z);
  }

  mutable projection::LazyGroups<projection::CountSketch> sketch_;
};

void check_kernel(const kernel::Kernel& kernel) {
  const std::string name(kernel.name());
  require(name == "polynomial", MERCER_UNSUPPORTED,
          "kernel %s has no linear map, expected polynomial with degree 1 and offset 0",
          name.c_str());
  const Parameters parameters = kernel.parameters();
  require(parameters.integer("degree") == 1 && parameters.number("offset") == 0, MERCER_UNSUPPORTED,
          "kernel polynomial with degree = %lld and offset = %g has no linear map, expected degree "
          "1 and offset 0",
          static_cast<long long>(parameters.integer("degree")), parameters.number("offset"));
  const double factor = kernel.variance() * parameters.number("gamma");
  require(std::isfinite(factor) && factor > 0, MERCER_INVALID_ARGUMENT,
          "gamma * variance = %g, expected a positive finite number", factor);
}

}  // namespace

std::unique_ptr<FeatureMap> make_linear(const kernel::Kernel& kernel, int64_t d, int64_t D,
                                        const LinearOptions& options) {
  check_kernel(kernel);
  kernel.check_dimension(d);
  require(D >= 1 && D <= kMostColumns, MERCER_INVALID_ARGUMENT,
          "features = %lld, expected 1 to %lld", static_cast<long long>(D),
          static_cast<long long>(kMostColumns));
  const StandardRounding rounding;
  auto copy = kernel.with_variance(kernel.variance());
  if (options.projection == LinearProjection::countsketch) {
    return std::make_unique<SketchedLinear>(std::move(copy), d, D, options);
  }
  return std::make_unique<ProjectedLinear>(std::move(copy), d, D, options);
}

}  // namespace mercer::feature
