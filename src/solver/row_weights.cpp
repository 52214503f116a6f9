// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/row_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace mercer::solver {

void require_weights(std::span<const double> weights, int64_t rows) {
  if (weights.empty()) return;
  require(static_cast<int64_t>(weights.size()) == rows, MERCER_DIMENSION_MISMATCH,
          "weights has %zu entries, expected one for each of %ld rows", weights.size(), rows);
  for (std::size_t i = 0; i < weights.size(); ++i)
    require(weights[i] >= 0 && std::isfinite(weights[i]), MERCER_INVALID_ARGUMENT, at_row(i),
            "weights has weight %g, expected a finite number >= 0", weights[i]);
}

double total_weight(std::span<const double> weights, int64_t rows) {
  if (weights.empty()) return static_cast<double>(rows);
  return std::accumulate(weights.begin(), weights.end(), 0.0);
}

void WeightUnit::add(std::span<const double> weights) {
  for (const double weight : weights) {
    sums_[0] += weight;
    sums_[1] += weight > 0;
  }
}

std::vector<double> WeightUnit::relative(std::span<const double> weights) const {
  std::vector<double> result(weights.begin(), weights.end());
  if (!(sums_[0] > 0 && std::isfinite(sums_[0]))) return result;
  int exponent = 0;
  const double mean = std::frexp(sums_[0], &exponent) / sums_[1];  // times 2^exponent
  for (double& weight : result)
    if (weight > 0)
      weight = std::max(std::ldexp(weight, -exponent) / mean, std::numeric_limits<double>::min());
  return result;
}

std::vector<double> relative_weights(std::span<const double> weights) {
  WeightUnit unit;
  unit.add(weights);
  return unit.relative(weights);
}

std::vector<double> numbers_of(std::span<const double> all, RowSet rows) {
  std::vector<double> some;
  for (int64_t i = 0; i < rows.count && !all.empty(); ++i) some.push_back(all[rows[i]]);
  return some;
}

void scale_by_roots(std::span<const double> weights, MatrixView<double> Z) {
  for (int64_t i = 0; i < Z.rows && !weights.empty(); ++i) {
    const double root = std::sqrt(weights[i]);
    for (int64_t j = 0; j < Z.cols; ++j) Z(i, j) *= root;
  }
}

}  // namespace mercer::solver
