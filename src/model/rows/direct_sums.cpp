// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of features are about 0, which cosines, sines and entries of random signs are near to; those
// of targets about their mean.
#include "model/rows/direct_sums.h"

#include <algorithm>

#include "feature/feature_map.h"
#include "feature/feature_products.h"
#include "feature/grid_sums.h"
#include "model/rows/feature_rows.h"

namespace mercer::model {
namespace {

constexpr int64_t kBlock = 4 * feature::GridSums::kRows;
constexpr int64_t kBlockNumbers = int64_t{1} << 21;
constexpr int64_t kMostInputs = 4096;  // of rows that are made dense in blocks

int64_t rows_of_block(int64_t inputs, int64_t rows) {
  return std::min(rows, std::min(kBlock, kBlockNumbers / inputs));
}

bool grid_pays(const feature::FeatureMap& map) {
  return map.grid() != nullptr && feature::GridSums::pays(*map.grid());
}

/// Adds what statistics count beside products; rows of Y become those about the origin, the mean of
/// the first rows with any weight.
void add_targets(const solver::RowStatistics::Parts& sums, MatrixView<double> Y,
                 std::span<const double> weights) {
  const auto weight = [&](int64_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double total = 0;
  for (int64_t i = 0; i < Y.rows; ++i) total += weight(i);
  for (int64_t o = 0; o < Y.cols; ++o) {
    double& origin = sums.origin_outputs[o];
    for (int64_t i = 0; i < Y.rows && sums.weight == 0 && total > 0; ++i)
      origin += weight(i) / total * Y(i, o);
    for (int64_t i = 0; i < Y.rows; ++i) {
      Y(i, o) -= origin;
      sums.sum_outputs[o] += weight(i) * Y(i, o);
      sums.sum_squared_outputs[o] += weight(i) * Y(i, o) * Y(i, o);
    }
  }
  sums.rows += Y.rows;
  sums.weight += total;
}

}  // namespace

bool DirectSums::pays(const feature::FeatureMap& map) {
  return map.inputs() <= kMostInputs && (grid_pays(map) || feature::entry_pairs_pay(map));
}

DirectSums::DirectSums(const feature::FeatureMap& map, int64_t outputs, Context& context)
    : map_(map), sums_(map.row_length(), outputs, context) {
  if (grid_pays(map)) grid_.emplace(*map.grid(), map.kernel().value_at_zero(), outputs, context);
}

void DirectSums::add(MatrixView<const double> X, MatrixView<double> Y,
                     std::span<const double> weights, Context& context) {
  const solver::RowStatistics::Parts sums = sums_.parts();
  add_targets(sums, Y, weights);
  if (grid_) return grid_->add(X, Y, weights, context);
  feature::add_entry_totals(map_, X, Y, weights, context,
                            {sums.gram, sums.cross, sums.sum_features});
}

void DirectSums::finish(Context& context, solver::RowStatistics& statistics) {
  const solver::RowStatistics::Parts sums = sums_.parts();
  if (grid_) grid_->add_to(context, sums.gram, sums.cross, sums.sum_features);
  statistics.merge(sums_);
}

/// Prepared rows [first, first + X.rows). Entries depend on what features are made of to the bit.
void FeatureRows::load_exact_inputs(int64_t first, MatrixView<double> X) const {
  load_inputs(first, X);
  if (map_.sparse_features() == nullptr || precision_ != feature::Precision::f32) return;
  for (int64_t i = 0; i < X.rows; ++i)
    for (int64_t j = 0; j < X.cols; ++j) X(i, j) = static_cast<double>(static_cast<float>(X(i, j)));
}

void FeatureRows::add_to(DirectSums& sums, Context& context, const solver::RowsDone& done,
                         const Weigh& weigh) const {
  const int64_t size = rows_of_block(inputs(), rows());
  const Matrix<double> X(size, inputs(), context, "a block of inputs");
  const Matrix<double> Y(size, outputs(), context, "a block of targets");
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count), y = Y.view().block_rows(0, count);
    load_weights(first, count, weights);
    load_exact_inputs(first, x);
    load_targets(first, y);
    if (weigh) weigh(y, weights);
    sums.add(x, y, weights, context);
    if (done) done(count);
  }
}

bool FeatureRows::add_to(solver::RowStatistics& statistics, Context& context,
                         const solver::RowsDone& done, const Weigh& weigh) const {
  if (!DirectSums::pays(map_)) return false;
  DirectSums sums(map_, statistics.outputs(), context);
  add_to(sums, context, done, weigh);
  sums.finish(context, statistics);
  return true;
}

/// The numbers that features of this precision hold.
std::optional<solver::FeatureEntries> FeatureRows::entries(Context& context) const {
  if (inputs() > kMostInputs || !feature::entry_pairs_pay(map_)) return std::nullopt;
  constexpr const char* kWhat = "entries of all rows";
  const int64_t P = map_.sparse_features()->entries(), size = rows_of_block(inputs(), rows());
  if (!context.has_room(checked_multiply(12, checked_multiply(rows() + 2 * size, P, kWhat), kWhat)))
    return std::nullopt;
  solver::FeatureEntries all{{P, rows(), context, kWhat}, {P, rows(), context, kWhat}, {}};
  const Matrix<double> X(size, inputs(), context, kWhat), values(size, P, context, kWhat);
  const Matrix<int64_t> columns(size, P, context, kWhat);
  std::vector<double> weights;
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count);
    load_exact_inputs(first, x);
    feature::list_entries(map_, MatrixView<const double>(x), context,
                          columns.view().block_rows(0, count), values.view().block_rows(0, count));
    for (int64_t e = 0; e < P; ++e)
      for (int64_t i = 0; i < count; ++i) {
        all.columns(e, first + i) = static_cast<int32_t>(columns(i, e));
        const bool single = precision_ == feature::Precision::f32;
        all.values(e, first + i) = single ? static_cast<float>(values(i, e)) : values(i, e);
      }
    const auto own = load_weights(first, count, weights);
    all.weights.insert(all.weights.end(), own.begin(), own.end());
  }
  return all;
}

bool FeatureRows::for_each_score(
    const solver::Weights& by, Context& context,
    const std::function<void(int64_t, MatrixView<double>)>& body) const {
  const feature::FrequencyGrid* const grid = map_.grid();
  const int64_t m = by.w.cols();
  const bool on_grid = grid != nullptr && feature::GridProducts::pays(*grid, m);
  if (inputs() > kMostInputs || !(on_grid || feature::entry_pairs_pay(map_))) return false;
  const int64_t size = rows_of_block(inputs(), rows());
  const Matrix<double> X(size, inputs(), context, "a block of inputs");
  const Matrix<double> scores(size, m, context, "a block of scores");
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count), out = scores.view().block_rows(0, count);
    load_exact_inputs(first, x);
    feature::multiply_features(map_, MatrixView<const double>(x), by.w.view(), {}, context, out);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t o = 0; o < m; ++o) out(i, o) += by.intercept[o];
    body(first, out);
  }
  return true;
}

}  // namespace mercer::model
