// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics and scores of rows whose frequencies lie on a grid: their features are never formed.
// Sums of features are about 0, which cosines and sines are near to; those of targets about their
// mean.
#include <algorithm>

#include "feature/grid_products.h"
#include "feature/grid_sums.h"
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

bool FeatureRows::add_to(solver::RowStatistics& statistics, Context& context,
                         const solver::RowsDone& done) const {
  const feature::FrequencyGrid* const grid = map_.grid();
  if (grid == nullptr || stays_sparse_ || !feature::GridSums::pays(*grid)) return false;
  const int64_t m = statistics.outputs();
  solver::RowStatistics own(features(), m, context);
  feature::GridSums products(*grid, map_.kernel().value_at_zero(), m, context);
  const int64_t size = std::min(kBlock, rows());
  const Matrix<double> X(size, inputs(), context, "a block of inputs");
  const Matrix<double> Y(size, m, context, "a block of targets");
  std::vector<double> storage;
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count), y = Y.view().block_rows(0, count);
    const std::span<const double> weights = load_weights(first, count, storage);
    load_inputs(first, x);
    load_targets(first, y);
    add_targets(own.parts(), y, weights);
    products.add(x, y, weights, context);
    if (done) done(count);
  }
  const solver::RowStatistics::Parts sums = own.parts();
  products.add_to(context, sums.gram, sums.cross, sums.sum_features);
  statistics.merge(own);
  return true;
}

bool FeatureRows::for_each_score(
    const solver::Weights& by, Context& context,
    const std::function<void(int64_t, MatrixView<double>)>& body) const {
  const feature::FrequencyGrid* const grid = map_.grid();
  const int64_t m = by.w.cols();
  if (grid == nullptr || stays_sparse_ || !feature::GridProducts::pays(*grid, m)) return false;
  const feature::GridProducts products(*grid, map_.kernel().value_at_zero(), by.w.view(), context);
  const int64_t size = std::min(kBlock, rows());
  const Matrix<double> X(size, inputs(), context, "a block of inputs");
  const Matrix<double> scores(size, m, context, "a block of scores");
  for (int64_t first = 0; first < rows(); first += size) {
    const int64_t count = std::min(size, rows() - first);
    const auto x = X.view().block_rows(0, count), out = scores.view().block_rows(0, count);
    load_inputs(first, x);
    products.multiply(x, context, out);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t o = 0; o < m; ++o) out(i, o) += by.intercept[o];
    body(first, out);
  }
  return true;
}

}  // namespace mercer::model
