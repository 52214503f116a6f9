// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums of features are about 0, which cosines, sines and entries of random signs are near to; those
// of targets about their mean.
#include "model/rows/direct_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "feature/feature_operator.h"
#include "solver/block_statistics.h"

namespace mercer::model {
namespace {

bool grid_pays(const feature::FeatureMap& map) {
  return map.grid() != nullptr && feature::GridSums::pays(*map.grid());
}

/// What statistics count beside products.
struct TargetSums {
  int64_t& rows;
  double& weight;
  std::span<double> origin, sum, squares;
};

/// Adds them; rows of Y become those about the origin, the mean of the first rows with any weight.
void add_targets(const TargetSums& sums, MatrixView<double> Y, std::span<const double> weights) {
  const auto weight = [&](int64_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double total = 0;
  for (int64_t i = 0; i < Y.rows; ++i) total += weight(i);
  for (int64_t o = 0; o < Y.cols; ++o) {
    double& origin = sums.origin[o];
    for (int64_t i = 0; i < Y.rows && sums.weight == 0 && total > 0; ++i)
      origin += weight(i) / total * Y(i, o);
    for (int64_t i = 0; i < Y.rows; ++i) {
      Y(i, o) -= origin;
      sums.sum[o] += weight(i) * Y(i, o);
      sums.squares[o] += weight(i) * Y(i, o) * Y(i, o);
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
  add_targets(
      {sums.rows, sums.weight, sums.origin_outputs, sums.sum_outputs, sums.sum_squared_outputs}, Y,
      weights);
  if (grid_) return grid_->add(X, Y, weights, context);
  feature::add_entry_totals(map_, X, Y, weights, context,
                            {sums.gram, sums.cross, sums.sum_features});
}

void DirectSums::keep(StateBytes& state) {
  sums_.keep(state);
  if (grid_) grid_->keep(state);
}

void DirectSums::finish(Context& context, solver::RowStatistics& statistics) {
  const solver::RowStatistics::Parts sums = sums_.parts();
  if (grid_) grid_->add_to(context, sums.gram, sums.cross, sums.sum_features);
  statistics.merge(sums_);
}

namespace {

bool products_on_grid(const feature::FeatureMap& map, int64_t columns) {
  return map.grid() != nullptr && feature::GridProducts::pays(*map.grid(), columns);
}

}  // namespace

bool DirectProducts::pays(const feature::FeatureMap& map, int64_t columns) {
  return map.inputs() <= DirectSums::kMostInputs &&
         (products_on_grid(map, columns) || feature::entry_pairs_pay(map));
}

DirectProducts::DirectProducts(const feature::FeatureMap& map, MatrixView<const double> W,
                               Context& context)
    : map_(map), W_(W) {
  if (products_on_grid(map, W.cols))
    grid_.emplace(*map.grid(), map.kernel().value_at_zero(), W, context);
}

void DirectProducts::multiply(MatrixView<const double> X, Context& context,
                              MatrixView<double> out) const {
  grid_ ? grid_->multiply(X, context, out)
        : feature::multiply_features(map_, X, W_, {}, context, out);
}

bool NormalGrid::serves(const feature::FeatureMap& map) {
  return map.grid() != nullptr && feature::has_grid_transforms(*map.grid());
}

namespace {

// A preconditioner takes the products of this many columns whole: more cost more than they save.
constexpr int64_t kHeavyColumns = 2048;

}  // namespace

NormalGrid::NormalGrid(const feature::FeatureMap& map, int64_t outputs, Context& context)
    : grid_(*map.grid()),
      at_zero_(map.kernel().value_at_zero()),
      outputs_(outputs),
      sums_(grid_, at_zero_, outputs, context),
      origin_(outputs, 0.0),
      sum_(outputs, 0.0),
      squares_(outputs, 0.0) {}

void NormalGrid::add(MatrixView<const double> X, MatrixView<double> Y,
                     std::span<const double> weights, Context& context) {
  add_targets({count_, weight_, origin_, sum_, squares_}, Y, weights);
  sums_.add(X, Y, weights, context);
}

/// Processes have origins of their own: sums become those about the mean of all.
void NormalGrid::move_to_mean(const solver::BlockSource& rows, solver::NormalSums& own) {
  std::vector<double> totals = {weight_};
  for (int64_t o = 0; o < outputs_; ++o) totals.push_back(sum_[o] + weight_ * origin_[o]);
  solver::reduce(rows, totals);
  for (int64_t o = 0; o < outputs_; ++o) {
    const double mean = totals[0] > 0 ? totals[1 + o] / totals[0] : 0, by = origin_[o] - mean;
    for (int64_t j = 0; j < own.cross.rows(); ++j) own.cross(j, o) += by * own.features[j];
    squares_[o] += by * (2 * sum_[o] + by * weight_);
    sum_[o] += by * weight_;
    origin_[o] = mean;
  }
}

std::unique_ptr<solver::NormalSums> NormalGrid::finish(const solver::BlockSource& rows,
                                                       Context& context) {
  constexpr const char* kSums = "sums for conjugate gradients on a grid";
  const int64_t F = grid_.count(), heavy = std::min(F, kHeavyColumns / 2);
  auto all = std::make_unique<solver::NormalSums>();
  all->cross = Matrix<double>(2 * F, outputs_, context, kSums);
  all->features.resize(2 * F);
  sums_.finish(context, all->cross.view(), all->features);
  if (rows.reduction() != nullptr) move_to_mean(rows, *all);
  const feature::SumTable table = sums_.whole(context);
  const auto numbers = table.numbers();
  solver::reduce(rows, {reinterpret_cast<double*>(numbers.data()), 2 * numbers.size()});
  solver::reduce(rows, {all->cross.data(), static_cast<size_t>(2 * F * outputs_)});
  solver::reduce(rows, all->features);
  solver::reduce(rows, sum_);
  solver::reduce(rows, squares_);
  solver::reduce(rows, {&weight_, 1});
  require(std::isfinite(all->features[0]), MERCER_INVALID_ARGUMENT, solver::kFeaturesNotFinite);
  all->gram = std::make_unique<feature::GridGram>(grid_, at_zero_, table, context);
  all->diagonal = feature::grid_gram_diagonal(grid_, at_zero_, table);
  for (int64_t half = 0; half < 2; ++half)
    for (int64_t j = 0; j < heavy; ++j) all->heavy.push_back(half * F + j);
  all->block = Matrix<double>(2 * heavy, 2 * heavy, context, kSums);
  all->block.fill(0);
  feature::add_grid_gram(grid_, at_zero_, table, heavy, context, all->block.view());
  all->weight = weight_;
  all->origin = std::move(origin_);
  all->outputs = std::move(sum_);
  all->squares = std::move(squares_);
  return all;
}

}  // namespace mercer::model
