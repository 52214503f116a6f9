// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which degrees of a power series have columns, and how many: drawn (Kar, Karnick 2012), or those of
// the least mean squared error over pairs of given rows (Wacker, Kanagawa, Filippone 2022,
// "Improved random features for dot product kernels", algorithms 4 to 6; SPEC section 5), which the
// map's spec then lists with that error. Degree 0 is always kept exactly, degree 1 on request.
#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "feature/degree_allotment.h"
#include "feature/landmarks.h"
#include "feature/series_map.h"
#include "feature/series_request.h"

namespace mercer::feature {
namespace {

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
