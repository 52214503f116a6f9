// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/assessment.h"

#include <cmath>
#include <limits>
#include <vector>

#include "model/assess/balanced_score.h"
#include "solver/row_weights.h"
#include "statistic/prediction_score.h"

namespace mercer::model {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Of the rows' weights over their sum, so that means are plain sums.
std::vector<double> shares_of(std::span<const double> weights, int64_t rows) {
  std::vector<double> shares;
  const double total = solver::total_weight(weights, rows);
  for (int64_t i = 0; i < rows; ++i)
    shares.push_back((weights.empty() ? 1.0 : weights[static_cast<size_t>(i)]) / total);
  return shares;
}

/// The standard error of sum_i terms_i over independent rows, whose own mean is 0.
double error_of_sum(const std::vector<double>& terms) {
  const auto n = static_cast<double>(terms.size());
  double squares = 0;
  for (const double x : terms) squares += x * x;
  return n < 2 ? kUnknown : std::sqrt(squares * n / (n - 1));
}

/// Adds output o's part of each row's deviation of R^2, times the number of outputs that vary.
/// False if the output does not vary.
bool add_influence(MatrixView<const double> Y, MatrixView<const double> predictions, int64_t o,
                   const std::vector<double>& shares, std::vector<double>& influence) {
  double mean = 0, residual = 0, total = 0;
  const auto share = [&](int64_t i) { return shares[static_cast<size_t>(i)]; };
  for (int64_t i = 0; i < Y.rows; ++i) mean += share(i) * (Y(i, o) - Y(0, o));
  const auto deviation = [&](int64_t i) { return Y(i, o) - Y(0, o) - mean; };
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double error = Y(i, o) - predictions(i, o);
    residual += share(i) * error * error;
    total += share(i) * deviation(i) * deviation(i);
  }
  if (!(total > 0)) return false;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double error = Y(i, o) - predictions(i, o);
    const double excess = error * error - residual / total * deviation(i) * deviation(i);
    influence[static_cast<size_t>(i)] += share(i) * excess / total;
  }
  return true;
}

double error_of_r_squared(MatrixView<const double> Y, MatrixView<const double> predictions,
                          const std::vector<double>& shares) {
  std::vector<double> influence(static_cast<size_t>(Y.rows), 0.0);
  double varying = 0;
  for (int64_t o = 0; o < Y.cols; ++o)
    varying += add_influence(Y, predictions, o, shares, influence);
  return varying == 0 ? kUnknown : error_of_sum(influence) / varying;
}

double error_of_accuracy(MatrixView<const double> Y, MatrixView<const double> scores, double share,
                         const std::vector<double>& shares) {
  std::vector<double> terms;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const int64_t found = statistic::class_of({scores.row(i), static_cast<size_t>(scores.cols)});
    const bool right = found != statistic::kNoClass && Y(i, 0) == static_cast<double>(found);
    terms.push_back(shares[static_cast<size_t>(i)] * ((right ? 1.0 : 0.0) - share));
  }
  return error_of_sum(terms);
}

}  // namespace

Score score_of(Task task, MatrixView<const double> Y, MatrixView<const double> predictions,
               std::span<const double> weights) {
  const std::vector<double> shares = shares_of(weights, Y.rows);
  if (task == Task::regression)
    return {statistic::r_squared(Y, predictions, weights),
            error_of_r_squared(Y, predictions, shares)};
  const double share = statistic::accuracy(Y, predictions, weights);
  return {share, error_of_accuracy(Y, predictions, share, shares)};
}

Assessment assess(Assessed kind, Task task, MatrixView<const double> Y, const Foreseen& foreseen,
                  std::span<const double> weights) {
  const Score score = score_of(task, Y, foreseen.model.view(), weights);
  Assessment result{
      .kind = kind,
      .rows = Y.rows,
      .score = score.value,
      .standard_error = score.standard_error,
      .constant = score_of(task, Y, foreseen.baselines.constant.view(), weights).value};
  if (foreseen.baselines.linear.rows() > 0)
    result.linear = score_of(task, Y, foreseen.baselines.linear.view(), weights).value;
  if (task == Task::regression) return result;
  result.balanced = balanced_score(Y, foreseen.model.view(), weights);
  if (foreseen.baselines.linear.rows() > 0)
    result.balanced_linear = balanced_score(Y, foreseen.baselines.linear.view(), weights).value;
  return result;
}

}  // namespace mercer::model
