// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/estimator/target_units.h"

#include <algorithm>
#include <cmath>

#include "base/aligned.h"

namespace mercer::model {
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

/// The mean over processes, weighted by their rows.
void average(const solver::BlockSource& rows, double weight, std::vector<double>& numbers) {
  if (rows.reduction() == nullptr) return;
  for (double& x : numbers) x *= weight;
  numbers.push_back(weight);
  solver::reduce(rows, numbers);
  for (double& x : numbers) x /= numbers.back();
  numbers.pop_back();
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
  double total = 0;
  rows.for_each(context, [&](const solver::FeatureBlock& block) {
    for (int64_t i = 0; i < block.Y.rows; ++i) {
      const double weight = block.weights.empty() ? 1.0 : block.weights[i];
      if (weight == 0) continue;
      total += weight;
      for (size_t o = 0; o < outputs; ++o)
        y[o].push_back({block.Y(i, static_cast<int64_t>(o)), weight});
    }
  });
  TargetUnits units;
  for (std::vector<WeightedNumber>& column : y) {
    units.median.push_back(center ? median(column) : 0);
    double mean = 0;
    for (auto& [value, weight] : column) {
      value -= units.median.back();
      mean += weight * std::abs(value) / total;
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
