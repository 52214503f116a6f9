// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/estimator/loss_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/aligned.h"
#include "base/numbers.h"
#include "model/select/judge.h"
#include "model/select/selection.h"

namespace mercer::model {
namespace {

constexpr double kFewLossRows = 3000;
constexpr int64_t kMostFolds = 5;
constexpr int kMostWorse = 3;  // lambdas in a row
constexpr double kPlateau = 1e-3;
// Losses of residuals have kinks: of 300 rows and a quantile fits to 1e-4 chose lambda from 1e-6 to
// 3e-4 by the order of their sums.
constexpr double kWalkTolerance = 1e-4, kWalkToleranceOfResiduals = 1e-6;

/// The rows by their targets, weights and features' products with the features' sum, so that a
/// split is of what rows hold and not of where they stand.
std::vector<int64_t> rows_by_content(const solver::BlockSource& rows, Context& context) {
  std::vector<double> sum(rows.features(), 0.0);
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i)
      for (size_t j = 0; block.weight(i) > 0 && j < sum.size(); ++j) sum[j] += block.Z.row(i)[j];
  });
  const int64_t m = rows.outputs(), n = rows.rows();
  const Matrix<double> keys(n, m + 2, context, "the order of rows");
  solver::for_each_wide(rows, context, [&](const solver::WideBlock& block) {
    for (int64_t i = 0; i < block.Z.rows; ++i) {
      const std::span<double> key(keys.view().row(block.first + i), static_cast<size_t>(m + 2));
      std::copy_n(block.Y.row(i), m, key.begin());
      key[m] = block.weight(i);
      key[m + 1] = std::inner_product(sum.begin(), sum.end(), block.Z.row(i), 0.0);
      for (double& one : key)  // rows of weight 0 may hold anything
        if (std::isnan(one)) one = -kInfinity;
    }
  });
  std::vector<int64_t> order = all_rows(n);
  std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
    const double *left = keys.view().row(a), *right = keys.view().row(b);
    return std::lexicographical_compare(left, left + m + 2, right, right + m + 2);
  });
  return order;
}

}  // namespace

std::vector<Split> splits_of(const solver::BlockSource& rows, const SelectionOptions& selecting,
                             Context& context) {
  double all = static_cast<double>(rows.rows());
  solver::reduce(rows, {&all, 1});
  const SplitRule rule{{}, rows.groups(), selecting.ordered};
  const std::vector<int64_t> order =
      rule.exchangeable() ? rows_by_content(rows, context) : all_rows(rows.rows());
  if (all >= kFewLossRows)
    return {split_rows(order, selecting.held_out_fraction, rows.rows(), selecting.seed,
                       Purpose::choice, rule)};
  // Every process needs the same number of folds; some are empty if it has fewer rows.
  const auto folds =
      std::clamp<int64_t>(std::llround(1 / selecting.held_out_fraction), 2, kMostFolds);
  std::vector<Split> splits = fold_splits(order, folds, selecting.seed, rule);
  for (Split& split : splits) {
    std::ranges::sort(split.train);
    std::ranges::sort(split.held_out);
  }
  if (rows.reduction() == nullptr)
    std::erase_if(splits, [](const Split& split) { return split.held_out.empty(); });
  return splits;
}

solver::LossFitOptions descent_of(const Parameters& own) {
  return {.tolerance = own.number("tolerance"), .most_iterations = own.integer("iterations")};
}

LossSearch::LossSearch(const solver::BlockSource& rows, const SelectionOptions& selecting,
                       const solver::LossFitOptions& descent, const solver::LossOptions& loss,
                       Context& context)
    : rows_(rows),
      selecting_(selecting),
      descent_(descent),
      loss_(loss),
      splits_(splits_of(rows, selecting, context)) {
  Stage stage(context, std::ssize(splits_));
  for (const Split& split : splits_) {
    stage.share(1);
    Part part{rows.subset(split.train), rows.subset(split.held_out), nullptr};
    part.fit = std::make_unique<solver::LossFit>(*part.train, loss_, context);
    parts_.push_back(std::move(part));
    stage.advance(1);
  }
}

void LossSearch::set_parameters(const solver::LossParameters& parameters) {
  loss_.parameters = parameters;
  for (Part& part : parts_) part.fit->set_parameters(parameters);
}

ScoredRows LossSearch::run(double lambda, const solver::LossFitOptions& descent, Context& context) {
  std::vector<ScoredRows> scored;
  Stage stage(context, std::ssize(parts_));
  for (Part& part : parts_) {
    stage.share(1);
    part.fit->run(lambda, descent, context);
    stage.advance(1);
    scored.push_back(score_all(*part.held_out, part.fit->weights(), context));
  }
  return joined(scored, context);
}

ScoredRows LossSearch::score(double lambda, Context& context) {
  solver::LossFitOptions descent = descent_;
  descent.measured = true;
  return run(lambda, descent, context);
}

double LossSearch::choose_lambda(Context& context) {
  solver::LossFitOptions descent = descent_;
  descent.tolerance = loss_.loss->residuals ? kWalkToleranceOfResiduals : kWalkTolerance;
  path_.clear();
  losses_.clear();
  double best = kInfinity;
  int worse = 0;
  const std::vector<PathPoint> lambdas = empty_path(selecting_);
  Stage stage(context, static_cast<int64_t>(lambdas.size()));
  for (const PathPoint& point : lambdas) {
    stage.share(1);
    const ScoredRows scored = run(point.lambda, descent, context);
    if (losses_.empty()) weigh(scored);
    losses_.push_back(row_losses(loss_, scored));
    const double mean = weighted_mean(losses_.back(), weights_, rows_.reduction());
    path_.push_back({point.lambda, mean});
    // Where lambda leaves a constant alone, the next ones differ by rounding.
    worse = mean <= best + kPlateau * std::abs(best) ? 0 : worse + 1;
    best = std::min(best, mean);
    stage.advance(1);
    if (worse == kMostWorse) break;
  }
  return chosen();
}

/// The objective's weights: row weights times class weights.
void LossSearch::weigh(const ScoredRows& scored) {
  weights_.clear();
  for (int64_t i = 0; i < scored.scores.rows(); ++i) {
    double factor = loss_.class_weights.empty() ? 1 : 0;
    for (size_t k = 0; k < loss_.class_weights.size(); ++k)
      factor += scored.targets(i, static_cast<int64_t>(k)) * loss_.class_weights[k];
    const std::span<const double> y(scored.targets.view().row(i),
                                    static_cast<size_t>(scored.targets.cols()));
    weights_.push_back(solver::has_target(y) ? factor * scored.weights[i] : 0);
  }
}

double LossSearch::chosen() const {
  std::vector<const std::vector<double>*> losses;
  std::vector<double> dimensions;  // the path begins with the largest lambda, the simplest
  for (const std::vector<double>& one : losses_) {
    dimensions.push_back(static_cast<double>(losses.size()));
    losses.push_back(&one);
  }
  PairedLosses paired = paired_losses(losses, weights_);
  paired.reduce(rows_);
  return path_[one_standard_error_choice(paired, dimensions)].lambda;
}

namespace {

/// The source with targets in units, in subsets too.
class RowsInUnits final : public solver::DerivedRows {
 public:
  RowsInUnits(const solver::BlockSource& rows, const TargetUnits& units)
      : DerivedRows(rows), units_(units) {}
  RowsInUnits(std::unique_ptr<solver::BlockSource> rows, const TargetUnits& units)
      : DerivedRows(std::move(rows)), units_(units) {}
  std::unique_ptr<BlockSource> subset(solver::RowSet set) const override {
    return std::make_unique<RowsInUnits>(rows_.subset(set), units_);
  }
  void for_each(Context& context, const Body& body) const override {
    const Matrix<double> storage(block_rows(), outputs(), context, "a block of targets");
    rows_.for_each(context, [&](const solver::FeatureBlock& block) {
      const auto Y = storage.view().block_rows(0, block.Y.rows);
      for (int64_t i = 0; i < Y.rows; ++i)
        for (int64_t k = 0; k < Y.cols; ++k) {
          const auto o = static_cast<size_t>(k);
          Y(i, k) = (block.Y(i, k) - units_.median[o]) / units_.scale[o];
        }
      solver::FeatureBlock scaled = block;
      scaled.Y = Y;
      body(scaled);
    });
  }

 private:
  const TargetUnits& units_;
};

/// The mean over processes, weighted by their targets.
void average(const solver::BlockSource& rows, std::vector<double> weights,
             std::vector<double>& numbers) {
  if (rows.reduction() == nullptr) return;
  for (size_t o = 0; o < numbers.size(); ++o) numbers[o] *= weights[o];
  solver::reduce(rows, numbers);
  solver::reduce(rows, weights);
  for (size_t o = 0; o < numbers.size(); ++o)
    numbers[o] = weights[o] > 0 ? numbers[o] / weights[o] : 0;
}

}  // namespace

double median(std::vector<WeightedNumber>& numbers) {
  if (numbers.empty()) return 0;
  double total = 0, up_to = 0;
  for (const WeightedNumber& number : numbers) total += number.weight;
  std::ranges::sort(numbers, {}, &WeightedNumber::value);
  for (size_t i = 0; i + 1 < numbers.size(); ++i) {
    up_to += numbers[i].weight;
    if (up_to > total / 2) return numbers[i].value;
    if (up_to == total / 2) return (numbers[i].value + numbers[i + 1].value) / 2;
  }
  return numbers.back().value;
}

double robust_scale(std::vector<WeightedNumber>& numbers) {
  for (WeightedNumber& number : numbers) number.value = std::abs(number.value);
  return 1.4826 * median(numbers);
}

void TargetUnits::undo(solver::Weights& weights) const {
  for (int64_t k = 0; k < weights.w.cols(); ++k) {
    const auto o = static_cast<size_t>(k);
    for (int64_t j = 0; j < weights.w.rows(); ++j) weights.w(j, k) *= scale[o];
    weights.intercept[o] = weights.intercept[o] * scale[o] + median[o];
  }
}

TargetUnits robust_units(const solver::BlockSource& rows, bool center, Context& context) {
  const auto outputs = static_cast<size_t>(rows.outputs());
  std::vector<std::vector<WeightedNumber>> y(outputs);
  std::vector<double> total(outputs, 0.0);  // weight of the targets that are not missing
  rows.for_each(context, [&](const solver::FeatureBlock& block) {
    for (int64_t i = 0; i < block.Y.rows; ++i) {
      const double weight = block.weights.empty() ? 1.0 : block.weights[i];
      for (size_t o = 0; o < outputs && weight > 0; ++o) {
        const double one = block.Y(i, static_cast<int64_t>(o));
        if (std::isnan(one)) continue;
        total[o] += weight;
        y[o].push_back({one, weight});
      }
    }
  });
  TargetUnits units;
  for (size_t o = 0; o < outputs; ++o) {
    std::vector<WeightedNumber>& column = y[o];
    units.median.push_back(center ? median(column) : 0);
    double mean = 0;
    for (auto& [value, weight] : column) {
      value -= units.median.back();
      mean += weight * std::abs(value) / total[o];
    }
    const double scale = robust_scale(column);
    units.scale.push_back(scale > 0 ? scale : mean);
  }
  average(rows, total, units.median);
  average(rows, total, units.scale);
  for (double& scale : units.scale) scale = scale > 0 ? scale : 1;
  return units;
}

std::unique_ptr<solver::BlockSource> in_units(const solver::BlockSource& rows,
                                              const TargetUnits& units) {
  return std::make_unique<RowsInUnits>(rows, units);
}

}  // namespace mercer::model
