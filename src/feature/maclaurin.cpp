// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which degrees of a power series have columns, and how many: drawn (Kar, Karnick 2012), or those of
// the least mean squared error over pairs of given rows (Wacker, Kanagawa, Filippone 2022,
// "Improved random features for dot product kernels", algorithms 4 to 6), which the
// map's spec then lists with that error. Degree 0 is always kept exactly, degree 1 on request.
#include "feature/maclaurin.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/aligned.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/parallel.h"
#include "base/size.h"
#include "feature/composed_map.h"
#include "feature/derivatives.h"
#include "feature/feature_map.h"
#include "feature/landmarks.h"
#include "feature/map_entry.h"
#include "feature/sketch.h"
#include "feature/sketch_tree.h"
#include "random/stream.h"

namespace mercer::feature {
namespace {

// Features of a power series: [sqrt(a_0) | degree 1, if it is kept exactly | sketches of single
// degrees], times the radial factor of the row.

// A sketch of weight (x'y)^degree.
struct DegreeSketch {
  int64_t degree;
  int64_t features;
  double weight;
};

struct SeriesParts {
  SketchOptions sketch;
  double constant;  // a_0; 0: no column
  double linear;    // a_1 of the d columns that keep degree 1 exactly; 0: none
  std::vector<DegreeSketch> sketches;
  // The coefficients of the estimate's mean: a_n, n = 0, 1, ..., 0 for degrees that are left out.
  std::vector<double> kept;
  bool truncated;                       // kept is less than the series
  std::optional<RandomDegrees> random;  // where the number of columns is drawn
};

// k(x, y) = g(x) g(y) sum_n a_n (x'y)^n is estimated degree by degree by independent sketches, each
// with its own seed (Wacker, Kanagawa, Filippone 2022, algorithm 6), so that
// variances add up. One lengthscale is a factor of the sketches' x'y; rows are divided by several.
// Rows of the features are multiplied by g while they are in the cache.
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
    return variance_by(&real_variance, x, y);
  }
  double pseudo_variance_at(const double* x, const double* y) const override {
    return is_complex() ? variance_by(&feature::pseudo_variance, x, y) : variance_at(x, y);
  }
  // Of columns whose degrees are drawn there is no closed form.
  std::optional<double> covariance_at(const double* x, const double* y,
                                      const double* z) const override {
    if (parts_.random) return std::nullopt;
    const PairSums sums = scaled_triple(x, y, z);
    double sum = 0;
    for (const DegreeSketch& one : parts_.sketches) {
      const PairMoments both = degree_moments(one, exact_pair(sums));
      const double mean = std::pow(sums.s * sums.t, static_cast<double>(one.degree));
      sum += one.weight * one.weight * ((both.S + both.R) / 2 - mean);
    }
    return sum * radials(scaled_sums(x, y)) * radials(scaled_sums(x, z));
  }
  double bias_at(const double* x, const double* y) const override {
    if (!parts_.truncated) return 0;
    const PairSums sums = scaled_sums(x, y);
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
      throw error.within("degree " + std::to_string(sketch.degree));
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

  PairSums scaled_sums(const double* x, const double* y) const { return scaled_triple(x, y, y); }
  PairSums scaled_triple(const double* x, const double* y, const double* z) const {
    std::vector<double> u(static_cast<size_t>(inputs())), v = u, w = u;
    for (int64_t k = 0; k < inputs(); ++k) {
      u[k] = x[k] * series().at(k);
      v[k] = y[k] * series().at(k);
      w[k] = z[k] * series().at(k);
    }
    return triple_sums(inputs(), u.data(), v.data(), w.data());
  }
  double radials(const PairSums& sums) const noexcept {
    return std::exp(-0.5 * radial_ * (sums.xx + sums.yy));
  }

  PairMoments sketch_moments(int64_t degree, int64_t columns, const PairMoments& pair) const {
    const std::vector<PairMoments> factors(static_cast<size_t>(degree), pair);
    return parts_.sketch.kind->moments(
        parts_.sketch.field != SketchField::real, columns,
        projection::sketch_dimension(std::vector{projection::FactorShape{inputs()}}), factors);
  }
  PairMoments degree_moments(const DegreeSketch& one, const PairMoments& pair) const {
    const int64_t each = parts_.sketch.field == SketchField::complex_to_real ? 2 : 1;
    return sketch_moments(one.degree, one.features / each, pair);
  }

  double variance_by(double (*of)(const PairMoments&), const double* x, const double* y) const {
    const PairSums sums = scaled_sums(x, y);
    const PairMoments pair = exact_pair(sums);
    double sum = 0;
    if (parts_.random) {
      const std::vector<SeriesTerm>& terms = parts_.random->terms();
      sum = parts_.random->variance(sums.s, sums.N, [&](size_t term, int64_t k) {
        return of(sketch_moments(terms[term].degree, k, pair));
      });
    } else {
      for (const DegreeSketch& one : parts_.sketches)
        sum += one.weight * one.weight * of(degree_moments(one, pair));
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

// The kernel of the arguments has a series. `own`: the map's parameters after the common ones.
// Errors: those of sketches, with the degree in front.
std::unique_ptr<FeatureMap> make_series_map(const MapArguments& arguments, SeriesParts parts,
                                            Parameters own) {
  return std::make_unique<SeriesMap>(arguments, std::move(parts), std::move(own));
}

// What the parameters of the map maclaurin ask of a kernel's power series.
enum class Allocation { random, optimized, given };
constexpr const char* kAllocationWords[] = {"random", "optimized", "given"};
constexpr Choice<Allocation> kAllocation{
    "allocation", kAllocationWords,
    "how many columns a degree has; random: degree n with a chance of about base^-n; optimized: "
    "for "
    "the least mean squared error over pairs of rows, which the map's spec then lists; given: "
    "columns"};
constexpr const char* kBase = "base";
constexpr double kUsualBase = 2;
constexpr int64_t kMostSeriesDegree = 1024;  // as of the kernel polynomial
// The error of an optimized map, as its spec has it.
constexpr const char* kPredictions[] = {"predicted_variance", "predicted_bias"};

class SeriesRequest {
 public:
  // `own` has been checked against the map's fields and outlives this. Errors: UNSUPPORTED (a
  // kernel without a series, keys that do not apply, sketches that do not serve);
  // INVALID_ARGUMENT.
  SeriesRequest(const kernel::Kernel& kernel, int64_t inputs, const Parameters& own);

  Allocation allocation() const noexcept { return allocation_; }
  const SketchOptions& sketch() const noexcept { return sketch_; }
  // a_n, 0 beyond the degrees that are asked for.
  double coefficient(int64_t n) const noexcept { return n < std::ssize(a_) ? a_[n] : 0; }
  // The degree at which the estimate's mean ends.
  int64_t last() const;
  // The least and the largest degree at which an optimized series may end.
  int64_t least_top() const;
  int64_t most_top() const;
  bool keeps_linear() const { return own_.boolean("exact_linear") && coefficient(1) > 0; }
  bool is_sketched(int64_t n) const {
    return n >= 1 && coefficient(n) > 0 && !(n == 1 && keeps_linear());
  }
  // The number of columns of a complex map.
  int64_t step() const noexcept { return sketch_.field == SketchField::complex_to_real ? 2 : 1; }
  // The number of columns of degrees that are kept exactly.
  int64_t fixed() const { return (a_[0] > 0 ? 1 : 0) + (keeps_linear() ? inputs_ : 0); }
  double base() const { return own_.find(kBase) == nullptr ? kUsualBase : own_.number(kBase); }
  // As given.
  const std::vector<int64_t>& columns() const noexcept { return columns_; }
  // The terms whose degrees are drawn.
  std::vector<SeriesTerm> sampled() const;

  MapSizes sizes() const;
  // Errors: INVALID_ARGUMENT.
  void check_features(int64_t D) const;

 private:
  int64_t max_degree(int64_t otherwise) const;
  int64_t degrees_asked() const;
  int64_t most_drawn() const;
  int64_t least_sketches() const;
  void check_keys();
  void check_drawn() const;
  void check_optimized() const;
  void read_columns();

  int64_t inputs_;
  const Parameters& own_;
  Allocation allocation_;
  SketchOptions sketch_;
  std::vector<double> a_;         // a_0, ..., the last not 0
  std::vector<int64_t> columns_;  // as given
};

constexpr int64_t kLeastTop = 2, kMostTop = 10;  // degrees where an optimized series may end

void refuse_key(const Parameters& own, const char* key, Allocation allocation) {
  require(own.find(key) == nullptr, MERCER_UNSUPPORTED, "%s does not apply to allocation = %s", key,
          kAllocation.word(allocation));
}

SeriesRequest::SeriesRequest(const kernel::Kernel& kernel, int64_t inputs, const Parameters& own)
    : inputs_(inputs),
      own_(own),
      allocation_(kAllocation.read(own)),
      sketch_(sketch_options(own.object("sketch"), 0)) {
  require_features(kernel.series() != nullptr, kernel, "Maclaurin",
                   "dot_product, polynomial, exponential, gaussian, or sums and products of them");
  const kernel::PowerSeries& series = *kernel.series();
  for (int64_t n = 0; n <= series.degree().value_or(degrees_asked()); ++n)
    a_.push_back(series.coefficient(n));
  while (a_.size() > 1 && a_.back() == 0) a_.pop_back();
  check_keys();
}

int64_t SeriesRequest::last() const {
  const int64_t most = std::ssize(a_) - 1;
  return allocation_ == Allocation::given ? std::ssize(columns_) : std::min(most, max_degree(most));
}
int64_t SeriesRequest::max_degree(int64_t otherwise) const {
  return own_.find("max_degree") == nullptr ? otherwise : own_.integer("max_degree");
}
int64_t SeriesRequest::most_top() const { return max_degree(kMostTop); }
int64_t SeriesRequest::least_top() const {
  return own_.find("min_degree") == nullptr ? std::min(kLeastTop, most_top())
                                            : own_.integer("min_degree");
}

std::vector<SeriesTerm> SeriesRequest::sampled() const {
  std::vector<SeriesTerm> terms;
  for (int64_t n = 1; n <= last(); ++n)
    if (is_sketched(n)) terms.push_back({n, a_[n]});
  return terms;
}

MapSizes SeriesRequest::sizes() const {
  const int64_t sketches = least_sketches();
  if (allocation_ == Allocation::given || sketches == 0)
    return {fixed() + sketches, 0, fixed() + sketches};
  const int64_t least = checked_add(fixed(), sketches * step(), "features");
  return {least, step(), least + std::max<int64_t>(kMostFeatures - least, 0) / step() * step()};
}

void SeriesRequest::check_features(int64_t D) const {
  const MapSizes all = sizes();
  require(all.step > 0 || D == all.least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: those that the degrees have together", D, all.least);
  require(D >= all.least, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected at least %ld: %ld of degrees that are kept exactly, and %ld "
          "for every other degree that has some",
          D, all.least, fixed(), step());
  require(all.step == 0 || (D - all.least) % all.step == 0, MERCER_INVALID_ARGUMENT,
          "features = %ld, expected %ld: %ld of degrees that are kept exactly, then pairs", D,
          D + 1, fixed());
}

// The highest degree wanted of a series without end.
int64_t SeriesRequest::degrees_asked() const {
  if (allocation_ == Allocation::random) return max_degree(most_drawn());
  if (allocation_ == Allocation::optimized) return most_top();
  return own_.find("columns") == nullptr ? 1 : std::ssize(own_.numbers("columns"));
}

// Of a series without end: beyond, degrees have a chance of at most 2^-64.
int64_t SeriesRequest::most_drawn() const {
  int64_t n = 0;
  for (double chance = 1; chance > 0x1p-64; chance /= std::min(base(), kUsualBase)) ++n;
  return n;
}

// The least number of columns of sketches; a complex_to_real pair counts as one, given ones as
// they are.
int64_t SeriesRequest::least_sketches() const {
  if (allocation_ == Allocation::given)
    return std::accumulate(columns_.begin(), columns_.end(), int64_t{0});
  const int64_t top = allocation_ == Allocation::random ? last() : most_top();
  int64_t count = 0;
  for (int64_t n = 1; n <= top; ++n) {
    if (is_sketched(n)) ++count;
    if (count > 0 && (allocation_ == Allocation::random || n >= least_top())) break;
  }
  return count;
}

void SeriesRequest::check_keys() {
  require(!own_.boolean("exact_linear") || sketch_.field != SketchField::complex,
          MERCER_UNSUPPORTED,
          "exact_linear does not apply to a sketch of field = complex, expected real or "
          "complex_to_real");
  if (allocation_ != Allocation::optimized) refuse_key(own_, "min_degree", allocation_);
  if (allocation_ != Allocation::random) refuse_key(own_, kBase, allocation_);
  if (allocation_ == Allocation::given) {
    refuse_key(own_, "max_degree", allocation_);
    return read_columns();
  }
  for (const char* key : {"columns", kPredictions[0], kPredictions[1]})
    refuse_key(own_, key, allocation_);
  if (allocation_ == Allocation::optimized) return check_optimized();
  check_drawn();
}

void SeriesRequest::check_drawn() const {
  require(!sketch_.kind->limited, MERCER_UNSUPPORTED,
          "allocation = random with sketch %s of kind %s, which has no more columns than tuples of "
          "inputs, expected another kind",
          projection::family_of(*sketch_.kind).name, sketch_.kind->name);
}

void SeriesRequest::check_optimized() const {
  const projection::SketchKind& kind = *sketch_.kind;
  require(kind.independent || kind.blocks, MERCER_UNSUPPORTED,
          "allocation = optimized with sketch %s of kind %s, whose variance is not convex in its "
          "columns, expected product_sketch, or tensor_srht of kind stacked",
          projection::family_of(kind).name, kind.name);
  require(least_top() <= most_top(), MERCER_INVALID_ARGUMENT,
          "min_degree = %ld, expected at most max_degree = %ld", least_top(), most_top());
}

void SeriesRequest::read_columns() {
  require(own_.find("columns") != nullptr, MERCER_INVALID_ARGUMENT,
          "columns is missing, expected those of degrees 1, 2, ... for allocation = given");
  for (const double value : own_.numbers("columns")) {
    const int64_t n = std::ssize(columns_) + 1;
    require(value == std::floor(value) && std::fmod(value, static_cast<double>(step())) == 0,
            MERCER_INVALID_ARGUMENT, "columns[%ld] = %g, expected an %s", n - 1, value,
            step() == 2 ? "even number" : "integer");
    require(value == 0 || is_sketched(n), MERCER_INVALID_ARGUMENT,
            "columns[%ld] = %g, expected 0: degree %ld has %s", n - 1, value, n,
            coefficient(n) > 0 ? "columns of its own" : "the coefficient 0");
    columns_.push_back(static_cast<int64_t>(value));
  }
  for (const char* key : kPredictions) {
    require(own_.find(key) == nullptr || own_.numbers(key).size() == columns_.size(),
            MERCER_INVALID_ARGUMENT, "%s, expected %zu numbers, one for each of columns", key,
            columns_.size());
  }
}

constexpr int64_t kMostPairedRows = 5000;
constexpr int64_t kMostPairedNumbers = int64_t{1} << 25;

int64_t padded_inputs(const MapArguments& a) {
  return projection::sketch_dimension(std::vector{projection::FactorShape{a.inputs}});
}

/// A sample of rows over the lengthscale.
Matrix<double> paired_rows(const MapArguments& a) {
  const Rows& rows = *a.data.rows;
  require(rows.rows() >= 2, MERCER_INVALID_ARGUMENT,
          "allocation = optimized: %ld rows, expected at least 2", rows.rows());
  const int64_t most = std::clamp<int64_t>(kMostPairedNumbers / a.inputs, 2, kMostPairedRows);
  const std::vector<int64_t> chosen =
      uniform_rows(rows.rows(), std::min(rows.rows(), most), a.seed);
  Matrix<double> X = copied_rows(a.kernel, rows, chosen, *a.data.context);
  const std::span<const double> l = a.kernel.lengthscale();
  for (int64_t i = 0; i < X.rows() && !l.empty(); ++i)
    for (int64_t k = 0; k < X.cols(); ++k) X(i, k) /= l[l.size() > 1 ? static_cast<size_t>(k) : 0];
  return X;
}

DegreeAllotment optimized(const MapArguments& a, const SeriesRequest& request) {
  const int64_t most = request.most_top();
  const SeriesSketch sketch{*request.sketch().kind, request.sketch().field, padded_inputs(a)};
  const Matrix<double> X = paired_rows(a);
  DegreeCosts costs{
      series_error(*a.kernel.series(), sketch, most, X.view(), *a.data.context), sketch.padded, {}};
  for (int64_t n = 1; n <= most; ++n) {
    costs.sketched.push_back(request.is_sketched(n));
    if (!costs.sketched.back()) costs.error.variance[n - 1] = costs.error.covariance[n - 1] = 0;
  }
  return best_allotment(costs, request.least_top(), most,
                        (a.features - request.fixed()) / request.step());
}

/// The parameters that say what was found.
Parameters described(const Parameters& own, const DegreeAllotment& found, int64_t step) {
  Parameters said;
  kAllocation.write(said, Allocation::given);
  std::vector<double> columns;
  for (const int64_t D : found.columns) columns.push_back(static_cast<double>(D * step));
  said.set("columns", std::move(columns));
  for (const char* key : {"exact_linear", "sketch"}) said.set(key, *own.find(key));
  said.set(kPredictions[0], found.variance);
  said.set(kPredictions[1], found.bias);
  return said;
}

SeriesParts parts_of(const SeriesRequest& request) {
  SeriesParts parts{request.sketch(),
                    request.coefficient(0),
                    request.keeps_linear() ? request.coefficient(1) : 0,
                    {},
                    {},
                    false,
                    {}};
  parts.kept.push_back(parts.constant);
  return parts;
}

SeriesParts drawn_parts(const MapArguments& a, const SeriesRequest& request) {
  SeriesParts parts = parts_of(request);
  for (int64_t n = 1; n <= request.last(); ++n) parts.kept.push_back(request.coefficient(n));
  parts.truncated = a.own.find("max_degree") != nullptr;
  std::vector<SeriesTerm> terms = request.sampled();
  if (terms.empty()) return parts;
  const projection::SketchKind& kind = *request.sketch().kind;
  parts.random.emplace(std::move(terms), (a.features - request.fixed()) / request.step(),
                       kind.blocks        ? padded_inputs(a)
                       : kind.independent ? 1
                                          : 0,
                       request.base());
  const std::vector<int64_t> columns = parts.random->draw(a.seed);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == 0) continue;
    parts.sketches.push_back({parts.random->terms()[i].degree, columns[i] * request.step(),
                              parts.random->weight(i, columns[i])});
  }
  return parts;
}

SeriesParts given_parts(const SeriesRequest& request) {
  SeriesParts parts = parts_of(request);
  for (int64_t n = 1; n <= std::ssize(request.columns()); ++n) {
    const int64_t D = request.columns()[n - 1];
    const double a = request.coefficient(n);
    if (D > 0) parts.sketches.push_back({n, D, a});
    parts.kept.push_back(D > 0 || !request.is_sketched(n) ? a : 0);
  }
  if (parts.linear > 0 && parts.kept.size() < 2) parts.kept.push_back(parts.linear);
  parts.truncated = true;
  return parts;
}

std::unique_ptr<FeatureMap> maclaurin_from(const MapArguments& a) {
  a.kernel.check_dimension(a.inputs);
  Parameters own = a.own;
  {
    const SeriesRequest request(a.kernel, a.inputs, a.own);
    request.check_features(a.features);
    if (request.allocation() == Allocation::random)
      return make_series_map(a, drawn_parts(a, request), std::move(own));
    if (request.allocation() == Allocation::optimized)
      own = described(a.own, optimized(a, request), request.step());
  }
  const SeriesRequest request(a.kernel, a.inputs, own);
  SeriesParts parts = given_parts(request);
  return make_series_map(a, std::move(parts), own);
}

MapSizes maclaurin_sizes(const Parameters& canonical, int64_t) {
  const auto kernel = kernel::make_kernel(canonical.object("kernel"));
  return SeriesRequest(*kernel, canonical.integer("inputs"), canonical).sizes();
}

Field predicted_field(const char* key, const char* help) {
  return {.key = key, .type = FieldType::numbers, .fallback = kOptional, .least = 0, .help = help};
}

Field allocation_field() {
  Field field = kAllocation.field();
  field.rows_choice = kAllocation.word(Allocation::optimized);
  return field;
}

std::vector<Field> maclaurin_fields() {
  return {
      allocation_field(),
      {.key = "columns",
       .type = FieldType::numbers,
       .fallback = kOptional,
       .least = 0,
       .most = kMostFeatures,
       .help = "the columns of degrees 1, 2, ...; for allocation = given alone"},
      integer_field("min_degree", kOptional, 1, kMostSeriesDegree,
                    "the least degree where an optimized series may end; none: 2"),
      integer_field("max_degree", kOptional, 1, kMostSeriesDegree,
                    "the highest degree; none: optimized 10, random all"),
      number_field(kBase, kOptional, 1.1, 1e6,
                   "of random degrees: smaller, and higher degrees have more columns; none: 2"),
      {.key = "exact_linear",
       .type = FieldType::boolean,
       .fallback = false,
       .help = "degree 1 as `inputs` columns, which are exact"},
      sketch_field("sketch", {{"map", "tensor_srht"}, {"kind", "stacked"}, {"field", "real"}},
                   "of each degree; optimized: product_sketch, or tensor_srht of kind stacked"),
      predicted_field(
          kPredictions[0],
          "of an optimized map, for each degree, its variance, mean over pairs of rows: "
          "set when the map is made, not asked for"),
      predicted_field(kPredictions[1],
                      "the squared bias of a series that ends there; with the variances up to the "
                      "last, its mean squared error")};
}

}  // namespace

MapEntry maclaurin_entry() {
  return {.name = "maclaurin",
          .help =
              "sketches of the degrees of a kernel's power series side by side, for functions of "
              "x'y and, by the row's norm, the gaussian; at best degree (d log d + D) per row",
          .fields = maclaurin_fields(),
          .make = maclaurin_from,
          .default_kernel = kernel_named("exponential"),
          .sizes = maclaurin_sizes};
}

}  // namespace mercer::feature
