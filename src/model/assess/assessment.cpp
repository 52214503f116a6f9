// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/assessment.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/numbers.h"
#include "model/assess/balanced_score.h"
#include "model/estimator/model_entry.h"
#include "random/scalar_math.h"
#include "solver/loss.h"
#include "solver/row_weights.h"
#include "statistic/metrics.h"

namespace mercer::model {
namespace {

constexpr double kUnknown = kNaN;
// Two standard errors then cover the score on new rows in at least nine of ten splits of nine data
// sets.
constexpr double kTails = 10;

/// Weights divided by their sum, so that means are plain sums.
std::vector<double> shares_of(std::span<const double> weights, int64_t rows) {
  std::vector<double> shares;
  const double total = solver::total_weight(weights, rows);
  for (int64_t i = 0; i < rows; ++i) shares.push_back((weights.empty() ? 1.0 : weights[i]) / total);
  return shares;
}

/// The standard error of sum_i terms_i over independent rows, with terms of mean 0. If few terms
/// dominate, the sum of squares is too low in most samples: its relative variance,
/// (kurtosis - 1) / n, is added kTails times.
double error_of_sum(const std::vector<double>& terms) {
  const auto n = static_cast<double>(terms.size());
  double squares = 0, fourth = 0;
  for (const double x : terms) {
    squares += x * x;
    fourth += x * x * x * x;
  }
  if (n < 2) return kUnknown;
  if (squares == 0) return 0;
  return std::sqrt(squares * (n / (n - 1) + kTails * (fourth / (squares * squares) - 1 / n)));
}

/// Sums the rows' terms by cluster; clusters are numbered from 0 without a gap.
std::vector<double> clustered(const std::vector<double>& terms, std::span<const int64_t> clusters) {
  if (clusters.empty()) return terms;
  std::vector<double> sums(static_cast<size_t>(std::ranges::max(clusters)) + 1, 0.0);
  for (size_t i = 0; i < terms.size(); ++i) sums[clusters[i]] += terms[i];
  return sums;
}

/// The standard error of 1 - loss / loss of a constant, from the rows' deviations. Rows that have
/// seen no bad one tell little of those to come: as Laplace's rule has it, another of n rows is bad
/// with probability 1/n, and then predicted as by the constant.
double error_of_explained(const std::vector<double>& influence, double varying,
                          const std::vector<double>& shares, std::span<const int64_t> clusters) {
  double unseen = 0;
  for (const double share : clustered(shares, clusters)) unseen += share * share;
  return std::hypot(error_of_sum(clustered(influence, clusters)) / varying, unseen);
}

/// Adds output o's part of each row's deviation of R^2, times the number of outputs that vary.
/// False if the output does not vary.
bool add_influence(MatrixView<const double> Y, MatrixView<const double> predictions, int64_t o,
                   const std::vector<double>& shares, std::vector<double>& influence) {
  double mean = 0, residual = 0, total = 0, observed = 0, first = 0;
  for (int64_t i = Y.rows - 1; i >= 0; --i) {
    if (std::isnan(Y(i, o))) continue;
    first = Y(i, o);
    observed += shares[i];
  }
  const auto share = [&](int64_t i) { return std::isnan(Y(i, o)) ? 0.0 : shares[i] / observed; };
  const auto apart = [&](int64_t i) { return std::isnan(Y(i, o)) ? 0.0 : Y(i, o) - first; };
  for (int64_t i = 0; i < Y.rows; ++i) mean += share(i) * apart(i);
  const auto deviation = [&](int64_t i) { return apart(i) - mean; };
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (share(i) == 0) continue;
    const double error = Y(i, o) - predictions(i, o);
    residual += share(i) * error * error;
    total += share(i) * deviation(i) * deviation(i);
  }
  if (!(total > 0)) return false;
  for (int64_t i = 0; i < Y.rows; ++i) {
    if (share(i) == 0) continue;
    const double error = Y(i, o) - predictions(i, o);
    const double excess = error * error - residual / total * deviation(i) * deviation(i);
    influence[i] += share(i) * excess / total;
  }
  return true;
}

/// Likewise for 1 - loss / loss of the best constant.
bool add_influence(const Measuring& by, MatrixView<const double> Y,
                   MatrixView<const double> predictions, int64_t o,
                   const std::vector<double>& shares, double& left,
                   std::vector<double>& influence) {
  const double constant = by.loss.best_constant(Y, o, shares);
  double own = 0, total = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    own += shares[i] * by.loss(Y(i, o), predictions(i, o));
    total += shares[i] * by.loss(Y(i, o), constant);
  }
  if (!(total > 0)) return false;
  left += own / total;
  for (int64_t i = 0; i < Y.rows; ++i)
    influence[i] +=
        shares[i] *
        (by.loss(Y(i, o), predictions(i, o)) - own / total * by.loss(Y(i, o), constant)) / total;
  return true;
}

Score score_of_loss(const Measuring& by, MatrixView<const double> Y,
                    MatrixView<const double> predictions, const std::vector<double>& shares,
                    std::span<const int64_t> clusters) {
  std::vector<double> influence(Y.rows, 0.0);
  double left = 0, varying = 0;
  for (int64_t o = 0; o < Y.cols; ++o)
    varying += add_influence(by, Y, predictions, o, shares, left, influence);
  if (varying == 0) return {kUnknown, kUnknown};
  return {1 - left / varying, error_of_explained(influence, varying, shares, clusters)};
}

double error_of_r_squared(MatrixView<const double> Y, MatrixView<const double> predictions,
                          const std::vector<double>& shares, std::span<const int64_t> clusters) {
  std::vector<double> influence(Y.rows, 0.0);
  double varying = 0;
  for (int64_t o = 0; o < Y.cols; ++o)
    varying += add_influence(Y, predictions, o, shares, influence);
  return varying == 0 ? kUnknown : error_of_explained(influence, varying, shares, clusters);
}

/// The standard error of a proportion over 1 / sum shares^2 effective rows, with two successes and
/// two failures added (Agresti and Coull 1998), so that it is not 0 without errors.
double error_of_accuracy(double share, const std::vector<double>& shares) {
  if (shares.size() < 2) return kUnknown;
  double squares = 0;
  for (const double x : shares) squares += x * x;
  const double rows = 1 / squares + 4, right = (share / squares + 2) / rows;
  return std::sqrt(right * (1 - right) / rows);
}

/// The standard error of accuracy for clusters, which is not binomial; the rows' if all clusters
/// are equal.
double error_of_clusters(double share, MatrixView<const double> Y,
                         MatrixView<const double> predictions, const std::vector<double>& shares,
                         std::span<const int64_t> clusters) {
  std::vector<double> terms;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const int64_t found =
        statistic::class_of({predictions.row(i), static_cast<size_t>(predictions.cols)});
    const bool right = found != statistic::kNoClass && Y(i, 0) == static_cast<double>(found);
    terms.push_back(shares[i] * ((right ? 1 : 0) - share));
  }
  const double of_clusters = error_of_sum(clustered(terms, clusters));
  return std::isnan(of_clusters) ? of_clusters
                                 : std::max(of_clusters, error_of_accuracy(share, shares));
}

double observed_mean(MatrixView<const double> Y, int64_t o, int64_t first, int64_t last,
                     std::span<const double> weights) {
  double sum = 0, total = 0;
  for (int64_t i = first; i < last; ++i) {
    const double weight = weights.empty() ? 1.0 : weights[i];
    if (std::isnan(Y(i, o)) || weight == 0) continue;
    sum += weight * Y(i, o);
    total += weight;
  }
  return total > 0 ? sum / total : 0.0;
}

/// The share of observed targets in the central interval of level kInterval, and the mean of -log
/// N(y; prediction, variance).
void judge_variances(MatrixView<const double> Y, const Foreseen& foreseen,
                     std::span<const double> weights, Assessment& result) {
  const double width = random::normal_quantile((1 + kInterval) / 2);
  double inside = 0, all = 0, nll = 0;
  for (int64_t i = 0; i < foreseen.variance.rows(); ++i)
    for (int64_t o = 0; o < Y.cols; ++o) {
      if (std::isnan(Y(i, o))) continue;
      const double weight = weights.empty() ? 1.0 : weights[i];
      const double error = std::abs(Y(i, o) - foreseen.model(i, o));
      const double variance = foreseen.variance(i, o);
      all += weight;
      if (error <= width * std::sqrt(variance)) inside += weight;
      nll += weight * (std::log(2 * std::numbers::pi * variance) + error * error / variance) / 2;
    }
  if (all > 0) result.coverage = inside / all, result.nll = nll / all;
}

/// A model of all rows makes `left` times the errors of the folds' models, which had fewer rows, if
/// these beat the baselines. The folds' models share most of their training rows, which widens the
/// standard error (Nadeau and Bengio 2003).
void tell_of_all_rows(double left, Assessment& folds) {
  const bool learnt = folds.score > folds.constant && !(folds.score <= folds.linear);
  const double gain = learnt && left < 1 ? (1 - folds.score) * (1 - left) : 0;  // 0 for NaN
  folds.score += gain;
  folds.standard_error = std::hypot(folds.standard_error * std::sqrt(1 + 1.0 / (kFolds - 1)), gain);
}

}  // namespace

void center_parts(std::span<const Split> parts, std::span<const double> weights,
                  MatrixView<double> Y, Foreseen& foreseen) {
  int64_t first = 0;
  for (const Split& part : parts) {
    const int64_t last = first + std::ssize(part.held_out);
    for (int64_t o = 0; o < Y.cols; ++o) {
      const double mean = observed_mean(Y, o, first, last, weights);
      for (const MatrixView<double> values :
           {Y, foreseen.model.view(), foreseen.baselines.constant.view(),
            foreseen.baselines.linear.view()})
        for (int64_t i = first; i < std::min(last, values.rows); ++i) values(i, o) -= mean;
    }
    first = last;
  }
}

Measuring::Measuring(Task task, const Estimating& fitted) : Measuring(task) {
  if (fitted.parameters.find("loss") == nullptr || task == Task::classification) return;
  const solver::Loss& fitted_by = *solver::find_loss(fitted.parameters.text("loss"));
  measure = fitted_by.counts      ? Measure::deviance
            : fitted_by.reads_tau ? Measure::pinball
                                  : Measure::absolute;
  loss.deviance = measure == Measure::deviance;
  if (fitted.parameters.find("tau") != nullptr) loss.tau = fitted.parameters.number("tau");
}

Score score_of(const Measuring& by, MatrixView<const double> Y,
               MatrixView<const double> predictions, std::span<const double> weights,
               std::span<const int64_t> clusters) {
  const std::vector<double> shares = shares_of(weights, Y.rows);
  if (by.of_loss()) return score_of_loss(by, Y, predictions, shares, clusters);
  if (by.measure == Measure::r_squared)
    return {statistic::r_squared(Y, predictions, weights),
            error_of_r_squared(Y, predictions, shares, clusters)};
  const double share = statistic::accuracy(Y, predictions, weights);
  return {share, clusters.empty() ? error_of_accuracy(share, shares)
                                  : error_of_clusters(share, Y, predictions, shares, clusters)};
}

Assessment assess(Assessed kind, const Measuring& by, MatrixView<const double> Y,
                  const Foreseen& foreseen, std::span<const double> weights, double left,
                  std::span<const int64_t> clusters) {
  const Score score = score_of(by, Y, foreseen.model.view(), weights, clusters);
  Assessment result{.kind = kind,
                    .measure = by.measure,
                    .rows = Y.rows,
                    .score = score.value,
                    .standard_error = score.standard_error,
                    .constant = score_of(by, Y, foreseen.baselines.constant.view(), weights).value};
  if (foreseen.baselines.linear.rows() > 0)
    result.linear = score_of(by, Y, foreseen.baselines.linear.view(), weights).value;
  judge_variances(Y, foreseen, weights, result);
  if (kind == Assessed::nested) tell_of_all_rows(left, result);
  if (by.measure != Measure::accuracy) return result;
  result.balanced = balanced_score(Y, foreseen.model.view(), weights, clusters);
  if (foreseen.baselines.linear.rows() > 0)
    result.balanced_linear = balanced_score(Y, foreseen.baselines.linear.view(), weights).value;
  return result;
}

}  // namespace mercer::model
