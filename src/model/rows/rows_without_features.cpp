// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics and scores of rows whose frequencies lie on a grid, or whose features are few entries:
// features are never formed. Their sums are about 0, which cosines, sines and entries of random
// signs are near to; those of targets about their mean.
#include <algorithm>

#include "feature/feature_products.h"
#include "feature/grid_products.h"
#include "feature/grid_sums.h"
#include "feature/sparse_features.h"
#include "model/rows/feature_rows.h"
#include "solver/row_statistics.h"

namespace mercer::model {
namespace {

constexpr int64_t kBlock = 4 * feature::GridSums::kRows;

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

/// Prepared rows [first, first + X.rows). Entries depend on what features are made of to the bit.
void FeatureRows::load_exact_inputs(int64_t first, MatrixView<double> X) const {
  load_inputs(first, X);
  if (map_.sparse_features() == nullptr || precision_ != feature::Precision::f32) return;
  for (int64_t i = 0; i < X.rows; ++i)
    for (int64_t j = 0; j < X.cols; ++j) X(i, j) = static_cast<double>(static_cast<float>(X(i, j)));
}

template <class Add>
void FeatureRows::add_totals(const solver::RowStatistics::Parts& sums, Context& context,
                             const solver::RowsDone& done, const Add& add) const {
  const int64_t size = std::min(kBlock, rows());
  const Matrix<double> X(size, inputs(), context, "a block of inputs");
  const Matrix<double> Y(size, sums.cross.cols, context, "a block of targets");
  std::vector<double> storage;
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count), y = Y.view().block_rows(0, count);
    const std::span<const double> weights = load_weights(first, count, storage);
    load_exact_inputs(first, x);
    load_targets(first, y);
    add_targets(sums, y, weights);
    add(x, y, weights);
    if (done) done(count);
  }
}

bool FeatureRows::add_to(solver::RowStatistics& statistics, Context& context,
                         const solver::RowsDone& done) const {
  const feature::FrequencyGrid* const grid = map_.grid();
  const bool on_grid = grid != nullptr && feature::GridSums::pays(*grid);
  if (stays_sparse_ || !(on_grid || feature::entry_pairs_pay(map_))) return false;
  const int64_t m = statistics.outputs();
  solver::RowStatistics own(features(), m, context);
  const solver::RowStatistics::Parts sums = own.parts();
  if (on_grid) {
    feature::GridSums products(*grid, map_.kernel().value_at_zero(), m, context);
    add_totals(sums, context, done, [&](const auto& x, const auto& y, const auto& weights) {
      products.add(x, y, weights, context);
    });
    products.add_to(context, sums.gram, sums.cross, sums.sum_features);
  } else {
    add_totals(sums, context, done, [&](const auto& x, const auto& y, const auto& weights) {
      feature::add_entry_totals(map_, x, y, weights, context,
                                {sums.gram, sums.cross, sums.sum_features});
    });
  }
  statistics.merge(own);
  return true;
}

bool FeatureRows::for_each_score(
    const solver::Weights& by, Context& context,
    const std::function<void(int64_t, MatrixView<double>)>& body) const {
  const feature::FrequencyGrid* const grid = map_.grid();
  const int64_t m = by.w.cols();
  const bool on_grid = grid != nullptr && feature::GridProducts::pays(*grid, m);
  if (stays_sparse_ || !(on_grid || feature::entry_pairs_pay(map_))) return false;
  const int64_t size = std::min(kBlock, rows());
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
