// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/balanced_score.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "statistic/metrics.h"

namespace mercer::model {
namespace {

constexpr int64_t kMostConfused = 64;  // classes of a matrix that a report carries

/// One class: sums of weights over all rows and over found rows, and of squares.
struct Sums {
  double all = 0, found = 0, squares = 0;
  int64_t rows = 0;
  std::vector<int64_t> predicted = {};  // of these rows, by the class of the largest score

  double recall() const { return found / all; }
  /// Of a share of (sum w)^2 / sum w^2 rows, with two found and two missed added (Agresti and Coull
  /// 1998), so that it is not 0 where all are found.
  double variance() const {
    const double n = all * all / squares + 4, r = (recall() * (n - 4) + 2) / n;
    return rows < 2 ? kNaN : r * (1 - r) / n;
  }
};

std::vector<Sums> sums_of(MatrixView<const double> Y, MatrixView<const double> scores,
                          std::span<const double> weights) {
  std::vector<Sums> classes(scores.cols);
  for (Sums& one : classes) one.predicted.resize(scores.cols <= kMostConfused ? scores.cols : 0);
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double w = weights.empty() ? 1.0 : weights[i];
    const int64_t found = statistic::class_of({scores.row(i), static_cast<size_t>(scores.cols)});
    const bool right = found != statistic::kNoClass && Y(i, 0) == static_cast<double>(found);
    Sums& own = classes[Y(i, 0)];
    ++own.rows;
    if (found != statistic::kNoClass && !own.predicted.empty()) ++own.predicted[found];
    own.all += w;
    own.squares += w * w;
    own.found += right ? w : 0;
  }
  return classes;
}

/// The standard error of the mean of `known` recalls over independent clusters: deviations are
/// summed by cluster first.
double error_of_clusters(MatrixView<const double> Y, MatrixView<const double> scores,
                         std::span<const double> weights, std::span<const int64_t> clusters,
                         const std::vector<Sums>& classes, double known) {
  std::vector<double> sums(static_cast<size_t>(std::ranges::max(clusters)) + 1, 0.0);
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double w = weights.empty() ? 1.0 : weights[i];
    const Sums& own = classes[Y(i, 0)];
    const int64_t found = statistic::class_of({scores.row(i), static_cast<size_t>(scores.cols)});
    const double x = found != statistic::kNoClass && Y(i, 0) == static_cast<double>(found) ? 1 : 0;
    sums[clusters[i]] += w * (x - own.recall()) / (own.all * known);
  }
  const auto n = static_cast<double>(sums.size());
  double squares = 0;
  for (const double sum : sums) squares += sum * sum;
  return n < 2 ? kNaN : std::sqrt(squares * n / (n - 1));
}

}  // namespace

BalancedScore balanced_score(MatrixView<const double> Y, MatrixView<const double> scores,
                             std::span<const double> weights, std::span<const int64_t> clusters) {
  BalancedScore result;
  const std::vector<Sums> classes = sums_of(Y, scores, weights);
  double sum = 0, variance = 0, known = 0;
  for (const Sums& one : classes) {
    result.classes.push_back({.rows = one.rows, .predicted = one.predicted});
    if (one.rows == 0) continue;
    result.classes.back().recall = one.recall();
    sum += one.recall();
    variance += one.variance();
    ++known;
  }
  if (known > 0) {
    result.value = sum / known;
    result.standard_error = std::sqrt(variance) / known;
    if (!clusters.empty())  // not below that of rows, as all clusters may be equal
      result.standard_error = std::max(
          error_of_clusters(Y, scores, weights, clusters, classes, known), result.standard_error);
  }
  return result;
}

}  // namespace mercer::model
