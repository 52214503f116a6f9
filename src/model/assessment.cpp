// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assessment.h"

#include <cmath>
#include <limits>
#include <vector>

#include "statistic/prediction_score.h"

namespace mercer::model {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Adds output o's part of each row's deviation of R^2, times the number of outputs that vary.
/// False if the output does not vary.
bool add_influence(MatrixView<const double> Y, MatrixView<const double> predictions, int64_t o,
                   std::vector<double>& influence) {
  const auto n = static_cast<double>(Y.rows);
  double mean = 0, residual = 0, total = 0;
  for (int64_t i = 0; i < Y.rows; ++i) mean += (Y(i, o) - Y(0, o)) / n;
  const auto deviation = [&](int64_t i) { return Y(i, o) - Y(0, o) - mean; };
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double error = Y(i, o) - predictions(i, o);
    residual += error * error / n;
    total += deviation(i) * deviation(i) / n;
  }
  if (!(total > 0)) return false;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double error = Y(i, o) - predictions(i, o);
    const double excess = error * error - residual / total * deviation(i) * deviation(i);
    influence[static_cast<size_t>(i)] += excess / total;
  }
  return true;
}

double error_of_r_squared(MatrixView<const double> Y, MatrixView<const double> predictions) {
  std::vector<double> influence(static_cast<size_t>(Y.rows), 0.0);
  double varying = 0, squares = 0;
  for (int64_t o = 0; o < Y.cols; ++o) varying += add_influence(Y, predictions, o, influence);
  if (varying == 0 || Y.rows < 2) return kUnknown;
  for (const double x : influence) squares += x * x / (varying * varying);
  const auto n = static_cast<double>(Y.rows);
  return std::sqrt(squares / n / (n - 1));
}

}  // namespace

Score score_of(const FitOptions& options, MatrixView<const double> Y,
               MatrixView<const double> predictions) {
  if (options.task == Task::regression)
    return {statistic::r_squared(Y, predictions), error_of_r_squared(Y, predictions)};
  const double share = statistic::accuracy(Y, predictions);
  const auto n = static_cast<double>(Y.rows);
  return {share, n > 1 ? std::sqrt(share * (1 - share) / (n - 1)) : kUnknown};
}

Assessment assess(Assessed kind, const FitOptions& options, MatrixView<const double> Y,
                  const Foreseen& foreseen) {
  const Score score = score_of(options, Y, foreseen.model.view());
  Assessment result{.kind = kind,
                    .rows = Y.rows,
                    .score = score.value,
                    .standard_error = score.standard_error,
                    .constant = score_of(options, Y, foreseen.baselines.constant.view()).value};
  if (foreseen.baselines.linear.rows() > 0)
    result.linear = score_of(options, Y, foreseen.baselines.linear.view()).value;
  return result;
}

}  // namespace mercer::model
