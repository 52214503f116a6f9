// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = g(x) g(y) sum_n a_n (x'y)^n is estimated degree by degree by independent sketches, each
// with its own seed (SPEC section 5; Wacker, Kanagawa, Filippone 2022, algorithm 6), so that
// variances add up. One lengthscale is a factor of the sketches' x'y; rows are divided by several.
// Rows of the features are multiplied by g while they are in the cache.
#include "feature/series_map.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/aligned.h"
#include "base/error.h"
#include "base/parallel.h"
#include "feature/derivative_calls.h"
#include "feature/moments.h"
#include "feature/radial_series.h"
#include "feature/side_by_side.h"
#include "moment/sketch_moments.h"
#include "random/child_seed.h"

namespace mercer::feature {
namespace {

constexpr uint64_t kSketchSeed = 3;
constexpr int64_t kFinishedRows = 16;

double horner(const std::vector<double>& a, double s) noexcept {
  double sum = 0;
  for (size_t n = a.size(); n-- > 0;) sum = a[n] + s * sum;
  return sum;
}

class SeriesMap final : public FeatureMap, public Derivatives, public Moments {
 public:
  SeriesMap(const MapArguments& a, SeriesParts parts, Parameters own)
      : FeatureMap(a.inputs, a.features, parts.sketch.field == SketchField::complex),
        kernel_(a.kernel.copy()),
        seed_(a.seed),
        parts_(std::move(parts)),
        own_(std::move(own)),
        radial_(kernel_->series()->radial()) {
    for (const double l : kernel_->lengthscale()) inverse_.push_back(1 / l);
    if (parts_.linear > 0) maps_.push_back(linear_map());
    for (const DegreeSketch& sketch : parts_.sketches) maps_.push_back(sketch_of(sketch));
  }

  std::string_view name() const noexcept override { return "maclaurin"; }
  const kernel::Kernel& kernel() const noexcept override { return *kernel_; }
  Parameters parameters() const override {
    Parameters spec = common_parameters(seed_);
    for (const auto& [key, value] : own_.entries()) spec.set(key, value);
    return spec;
  }
  int64_t incomplete_block() const override {
    int64_t most = 0;
    for (const auto& map : maps_) most = std::max(most, map->incomplete_block());
    return most;
  }
  void prepare(Precision precision, Context& context) const override {
    Stage stage(context, std::ssize(maps_));
    for (const auto& map : maps_) stage.part(1, [&] { map->prepare(precision, context); });
  }

  void apply(const Rows& X, Columns c, Context& context, const ResultView& Z) const override {
    X.visit([&](const auto& rows) {
      const auto out = result_of<RowNumberOf<decltype(rows)>>(Z);
      if (rows.rows == 0 || c.begin == c.end) return;
      apply_rows(rows, c, context, out);
    });
  }

  const Derivatives* derivatives() const noexcept override { return this; }
  MERCER_DERIVATIVE_CALLS_BY(series())

  const Moments& moments() const override { return *this; }
  double variance_at(const double* x, const double* y) const override {
    return variance_by(&moment::real_variance, x, y);
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    return is_complex() ? variance_by(&moment::pseudo_variance, x, y) : variance_at(x, y);
  }
  double bias_at(const double* x, const double* y) const override {
    if (!parts_.truncated) return 0;
    const moment::PairSums sums = scaled_sums(x, y);
    const kernel::PowerSeries& series = *kernel_->series();
    if (!series.degree())
      return radials(sums) * horner(parts_.kept, sums.s) - kernel_->value(inputs(), x, y);
    std::vector<double> lost;
    for (int64_t n = 0; n <= *series.degree(); ++n) {
      const bool kept = n < std::ssize(parts_.kept) && parts_.kept[n] > 0;
      lost.push_back(kept ? 0 : series.coefficient(n));
    }
    return -radials(sums) * horner(lost, sums.s);
  }

 private:
  RadialSeries series() const noexcept {
    return {*this, maps_, std::sqrt(parts_.constant), radial_, inverse_};
  }

  // weight (x'y)^degree of the rows that the parts see.
  std::shared_ptr<const kernel::Kernel> power(int64_t degree, double weight) const {
    const double l = series().scales_rows() ? 1 : series().at(0);
    return kernel::make_kernel(
        {{"kernel", "polynomial"}, {"degree", degree}, {"gamma", l * l}, {"variance", weight}});
  }
  std::unique_ptr<const FeatureMap> linear_map() const {
    const Parameters spec{
        {"map", "exact_polynomial"},
        {"kernel", std::make_shared<const Parameters>(power(1, parts_.linear)->parameters())},
        {"inputs", inputs()},
        {"features", inputs()}};
    return make_map(canonical_map(spec, "", Data::refused));
  }
  std::unique_ptr<const FeatureMap> sketch_of(const DegreeSketch& sketch) const {
    SketchOptions options = parts_.sketch;
    options.seed = random::child_seed(seed_, kSketchSeed, static_cast<uint64_t>(sketch.degree));
    try {
      return make_sketch(*power(sketch.degree, sketch.weight), inputs(), sketch.features, options);
    } catch (const Error& error) {
      fail(error.status(), "degree %ld: %s", sketch.degree, error.what());
    }
  }

  template <class T>
  void apply_rows(const CsrView<T>& X, Columns c, Context& context, MatrixView<T> Z) const {
    if (radial_ > 0 || series().scales_rows()) return apply_by_dense_tiles(X, c, context, Z);
    apply_side_by_side(maps_, series().constants(), X, c, context, Z);
    finish_rows(c, context, Z, [&](int64_t i) {
      double nothing = 0;
      for (int64_t p = X.begin(i); p < X.end(i); ++p)
        nothing += 0 * static_cast<double>(X.values[p]);
      return 1 + nothing;
    });
  }

  template <class T>
  void apply_rows(MatrixView<const T> X, Columns c, Context& context, MatrixView<T> Z) const {
    const RadialSeries own = series();
    const int64_t tile = own.tile_rows<T>(X.rows, row_length() / features() * (c.end - c.begin));
    const Matrix<T> room = own.room<T>(tile, context);
    Stage stage(context, X.rows);
    for (int64_t i0 = 0; i0 < X.rows; i0 += tile) {
      const int64_t count = std::min(tile, X.rows - i0);
      const MatrixView<const T> rows = X.block_rows(i0, i0 + count);
      const MatrixView<T> out = Z.block_rows(i0, i0 + count);
      stage.share(count);
      apply_side_by_side(maps_, own.constants(), own.scaled(rows, room), c, context, out);
      finish_rows(c, context, out, [&](int64_t i) { return own.factor(rows.row(i)); });
      stage.advance(count);
    }
  }

  /// Multiplies rows by factor(i) where there is a radial factor, and fills in the first column.
  template <class T, class Factor>
  void finish_rows(Columns c, Context& context, MatrixView<T> Z, const Factor& factor) const {
    const RadialSeries own = series();
    const bool first = own.constants() > 0 && c.begin == 0;
    if (!first && radial_ == 0) return;
    const int64_t skipped = first ? own.constant_reals() : 0;
    parallel_for(
        context, (Z.rows - 1) / kFinishedRows + 1,
        [&](int64_t chunk, int) noexcept {
          const int64_t end = std::min(Z.rows, (chunk + 1) * kFinishedRows);
          for (int64_t i = chunk * kFinishedRows; i < end; ++i) {
            const double g = factor(i);
            T* const z = Z.row(i);
            if (first) std::fill_n(z, skipped, static_cast<T>(0 * g));
            if (first) z[0] = static_cast<T>(own.root * g);
            if (radial_ > 0) multiply_row(z + skipped, Z.cols - skipped, g);
          }
        },
        0);
  }
  /// Where g underflows, so do its products with powers, which may overflow.
  template <class T>
  static void multiply_row(T* z, int64_t count, double g) noexcept {
    if (g == 0) return std::fill_n(z, count, T{0}), void();
    for (int64_t j = 0; j < count; ++j) z[j] = static_cast<T>(static_cast<double>(z[j]) * g);
  }

  moment::PairSums scaled_sums(const double* x, const double* y) const {
    std::vector<double> u(static_cast<size_t>(inputs())), v = u;
    for (int64_t k = 0; k < inputs(); ++k) {
      u[k] = x[k] * series().at(k);
      v[k] = y[k] * series().at(k);
    }
    return moment::pair_sums(inputs(), u.data(), v.data());
  }
  double radials(const moment::PairSums& sums) const noexcept {
    return std::exp(-0.5 * radial_ * (sums.xx + sums.yy));
  }

  double variance_by(double (*of)(const moment::PairMoments&), const double* x,
                     const double* y) const {
    const moment::PairSums sums = scaled_sums(x, y);
    const moment::PairMoments pair = moment::exact_pair(sums);
    const projection::SketchKind& kind = *parts_.sketch.kind;
    const int64_t padded =
        projection::sketch_dimension(std::vector{projection::FactorShape{inputs()}});
    const auto of_degree = [&](int64_t degree, int64_t columns) {
      const std::vector<moment::PairMoments> factors(static_cast<size_t>(degree), pair);
      return of(kind.moments(parts_.sketch.field != SketchField::real, columns, padded, factors));
    };
    double sum = 0;
    if (parts_.random) {
      const std::vector<SeriesTerm>& terms = parts_.random->terms();
      sum = parts_.random->variance(
          sums.s, sums.N, [&](size_t term, int64_t k) { return of_degree(terms[term].degree, k); });
    } else {
      const int64_t each = parts_.sketch.field == SketchField::complex_to_real ? 2 : 1;
      for (const DegreeSketch& one : parts_.sketches)
        sum += one.weight * one.weight * of_degree(one.degree, one.features / each);
    }
    return radials(sums) * radials(sums) * sum;
  }

  std::unique_ptr<const kernel::Kernel> kernel_;
  uint64_t seed_;
  SeriesParts parts_;
  Parameters own_;
  double radial_;
  std::vector<double> inverse_;  // 1/lengthscale: none, one, or one for each input
  std::vector<std::unique_ptr<const FeatureMap>> maps_;
};

}  // namespace

std::unique_ptr<FeatureMap> make_series_map(const MapArguments& arguments, SeriesParts parts,
                                            Parameters own) {
  return std::make_unique<SeriesMap>(arguments, std::move(parts), std::move(own));
}

}  // namespace mercer::feature
