// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which degrees of a power series have columns, and how many: drawn (Kar, Karnick 2012), or those of
// the least mean squared error over pairs of given rows (Wacker, Kanagawa, Filippone 2022,
// "Improved random features for dot product kernels", algorithms 4 to 6; SPEC section 5), which the
// map's spec then lists with that error. Degree 0 is always kept exactly, degree 1 on request.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/choice.h"
#include "base/error.h"
#include "base/size.h"
#include "feature/degree_allotment.h"
#include "feature/landmarks.h"
#include "feature/series_map.h"

namespace mercer::feature {
namespace {

enum class Allocation { random, optimized, given };
constexpr const char* kAllocationWords[] = {"random", "optimized", "given"};
constexpr Choice<Allocation> kAllocation{
    "allocation", kAllocationWords,
    "how many columns a degree has; random: degree n with a chance of about 2^-n; optimized: for "
    "the least mean squared error over pairs of rows, which the map's spec then lists; given: "
    "columns"};

constexpr int64_t kMostSeriesDegree = 1024;  // as of the kernel polynomial
constexpr int64_t kMostDrawn = 64;           // of a series without end: beyond, a chance of 2^-64
constexpr int64_t kLeastTop = 2, kMostTop = 10;  // degrees where an optimized series may end
constexpr int64_t kMostPairedRows = 5000;
constexpr int64_t kMostPairedNumbers = int64_t{1} << 25;
constexpr const char* kPredictions[] = {"predicted_variance", "predicted_bias"};

void refuse_key(const Parameters& own, const char* key, Allocation allocation) {
  require(own.find(key) == nullptr, MERCER_UNSUPPORTED, "%s does not apply to allocation = %s", key,
          kAllocation.word(allocation));
}

/// What the map's own parameters ask of a kernel.
class SeriesRequest {
 public:
  /// Errors: UNSUPPORTED (a kernel without a series, keys that do not apply).
  SeriesRequest(const kernel::Kernel& kernel, int64_t inputs, const Parameters& own)
      : kernel_(kernel),
        inputs_(inputs),
        own_(own),
        allocation_(kAllocation.read(own)),
        sketch_(sketch_options(own.object("sketch"), 0)) {
    require_features(
        kernel.series() != nullptr, kernel, "Maclaurin",
        "dot_product, polynomial, exponential, gaussian, or sums and products of them");
    const kernel::PowerSeries& series = *kernel.series();
    for (int64_t n = 0; n <= series.degree().value_or(degrees_asked()); ++n)
      a_.push_back(series.coefficient(n));
    while (a_.size() > 1 && a_.back() == 0) a_.pop_back();
    check_keys();
  }

  Allocation allocation() const noexcept { return allocation_; }
  const SketchOptions& sketch() const noexcept { return sketch_; }
  double coefficient(int64_t n) const noexcept { return n < std::ssize(a_) ? a_[n] : 0; }
  /// The degree where the estimate's mean ends.
  int64_t last() const noexcept {
    const int64_t most = std::ssize(a_) - 1;
    return allocation_ == Allocation::given ? std::ssize(columns_)
                                            : std::min(most, max_degree(most));
  }
  int64_t max_degree(int64_t otherwise) const { return integer("max_degree", otherwise); }
  int64_t min_degree() const {
    return integer("min_degree", std::min(kLeastTop, max_degree(kMostTop)));
  }
  bool keeps_linear() const { return own_.boolean("exact_linear") && coefficient(1) > 0; }
  bool is_sketched(int64_t n) const {
    return n >= 1 && coefficient(n) > 0 && !(n == 1 && keeps_linear());
  }
  /// Columns of a complex one.
  int64_t step() const noexcept { return sketch_.field == SketchField::complex_to_real ? 2 : 1; }
  /// Columns of degrees that are kept exactly.
  int64_t fixed() const { return (a_[0] > 0 ? 1 : 0) + (keeps_linear() ? inputs_ : 0); }
  const std::vector<int64_t>& columns() const noexcept { return columns_; }

  std::vector<SeriesTerm> sampled() const {
    std::vector<SeriesTerm> terms;
    for (int64_t n = 1; n <= last(); ++n)
      if (is_sketched(n)) terms.push_back({n, a_[n]});
    return terms;
  }

  MapSizes sizes() const {
    const int64_t sketches = least_sketches();
    if (allocation_ == Allocation::given || sketches == 0)
      return {fixed() + sketches, 0, fixed() + sketches};
    const int64_t least = checked_add(fixed(), sketches * step(), "features");
    return {least, step(), least + std::max<int64_t>(kMostFeatures - least, 0) / step() * step()};
  }

  /// Errors: INVALID_ARGUMENT.
  void check_features(int64_t D) const {
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

 private:
  int64_t integer(const char* key, int64_t otherwise) const {
    return own_.find(key) == nullptr ? otherwise : own_.integer(key);
  }

  // Of a series without end.
  int64_t degrees_asked() const {
    if (allocation_ == Allocation::random) return max_degree(kMostDrawn);
    if (allocation_ == Allocation::optimized) return max_degree(kMostTop);
    return own_.find("columns") == nullptr ? 1 : std::ssize(own_.numbers("columns"));
  }

  // The least number of columns of sketches; a complex_to_real pair counts as one, given ones as
  // they are.
  int64_t least_sketches() const {
    if (allocation_ == Allocation::given)
      return std::accumulate(columns_.begin(), columns_.end(), int64_t{0});
    const int64_t top = allocation_ == Allocation::random ? last() : max_degree(kMostTop);
    int64_t count = 0;
    for (int64_t n = 1; n <= top; ++n) {
      if (is_sketched(n)) ++count;
      if (count > 0 && (allocation_ == Allocation::random || n >= min_degree())) break;
    }
    return count;
  }

  void check_keys() {
    if (allocation_ != Allocation::optimized) refuse_key(own_, "min_degree", allocation_);
    if (allocation_ == Allocation::given) {
      refuse_key(own_, "max_degree", allocation_);
      return read_columns();
    }
    for (const char* key : {"columns", kPredictions[0], kPredictions[1]})
      refuse_key(own_, key, allocation_);
    if (allocation_ == Allocation::optimized) return check_optimized();
    require(
        !sketch_.kind->limited, MERCER_UNSUPPORTED,
        "allocation = random with sketch %s of kind %s, which has no more columns than tuples of "
        "inputs, expected another kind",
        projection::family_of(*sketch_.kind).name, sketch_.kind->name);
  }

  void check_optimized() const {
    const projection::SketchKind& kind = *sketch_.kind;
    require(kind.independent || kind.blocks, MERCER_UNSUPPORTED,
            "allocation = optimized with sketch %s of kind %s, whose variance is not convex in its "
            "columns, expected product_sketch, or tensor_srht of kind stacked",
            projection::family_of(kind).name, kind.name);
    require(min_degree() <= max_degree(kMostTop), MERCER_INVALID_ARGUMENT,
            "min_degree = %ld, expected at most max_degree = %ld", min_degree(),
            max_degree(kMostTop));
  }

  void read_columns() {
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

  const kernel::Kernel& kernel_;
  int64_t inputs_;
  const Parameters& own_;
  Allocation allocation_;
  SketchOptions sketch_;
  std::vector<double> a_;         // a_0, ..., the last not 0
  std::vector<int64_t> columns_;  // as given
};

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
  const int64_t most = request.max_degree(kMostTop);
  const moment::SeriesSketch sketch{*request.sketch().kind, request.sketch().field,
                                    padded_inputs(a)};
  const Matrix<double> X = paired_rows(a);
  DegreeCosts costs{
      moment::series_error(*a.kernel.series(), sketch, most, X.view(), *a.data.context),
      sketch.padded,
      {}};
  for (int64_t n = 1; n <= most; ++n) {
    costs.sketched.push_back(request.is_sketched(n));
    if (!costs.sketched.back()) costs.error.variance[n - 1] = costs.error.covariance[n - 1] = 0;
  }
  return best_allotment(costs, request.min_degree(), most,
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
                                          : 0);
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

std::vector<Field> maclaurin_fields() {
  return {
      kAllocation.field(),
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
          .learns_from_rows =
              [](const Parameters& canonical) {
                return kAllocation.read(canonical) == Allocation::optimized;
              },
          .sizes = maclaurin_sizes};
}

}  // namespace mercer::feature
