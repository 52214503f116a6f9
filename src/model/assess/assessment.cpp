// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/assess/assessment.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/numbers.h"
#include "model/estimator/class_weights.h"
#include "model/predict.h"
#include "model/prepare/row_coding.h"
#include "model/prepare/row_summary.h"
#include "model/rows/feature_rows.h"
#include "model/rows/row_sets.h"
#include "model/select/selection.h"
#include "random/scalar_math.h"
#include "solver/loss.h"
#include "solver/loss_fit.h"
#include "solver/row_weights.h"
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

/// Sums the rows' terms by cluster; clusters are numbered from 0 without a gap.
std::vector<double> clustered(const std::vector<double>& terms, std::span<const int64_t> clusters) {
  if (clusters.empty()) return terms;
  std::vector<double> sums(static_cast<size_t>(std::ranges::max(clusters)) + 1, 0.0);
  for (size_t i = 0; i < terms.size(); ++i) sums[clusters[i]] += terms[i];
  return sums;
}

/// Whether the largest score of row i is its class's.
bool is_right(MatrixView<const double> Y, MatrixView<const double> scores, int64_t i) {
  const int64_t found = statistic::class_of({scores.row(i), static_cast<size_t>(scores.cols)});
  return found != statistic::kNoClass && Y(i, 0) == static_cast<double>(found);
}

/// The standard error of the mean of `known` recalls over independent clusters.
double error_of_recalls(MatrixView<const double> Y, MatrixView<const double> scores,
                        std::span<const double> weights, std::span<const int64_t> clusters,
                        const std::vector<Sums>& classes, double known) {
  std::vector<double> terms;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const Sums& own = classes[Y(i, 0)];
    terms.push_back((weights.empty() ? 1.0 : weights[i]) * (is_right(Y, scores, i) - own.recall()) /
                    (own.all * known));
  }
  const std::vector<double> sums = clustered(terms, clusters);
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
          error_of_recalls(Y, scores, weights, clusters, classes, known), result.standard_error);
  }
  return result;
}

namespace {

constexpr int64_t kMostLinearRows = 20000;
constexpr const char* kBaselines = "predictions to compare with";
// Where the linear model of classes ends is known to far less than its score's error.
constexpr solver::LossFitOptions kLinearFit{.tolerance = 1e-4, .most_iterations = 100};

std::vector<double> mean_codes(const TargetOptions& coding, const Preparation& by,
                               MatrixView<const double> Y, const std::vector<int64_t>& rows,
                               std::span<const double> weights) {
  const auto outputs = static_cast<size_t>(coded_outputs(coding, Y.cols));
  const std::vector<double> own = solver::numbers_of(weights, rows);
  std::vector<double> sum(outputs, 0.0), code(outputs), total(outputs, 0.0);
  for (size_t k = 0; k < rows.size(); ++k) {
    const double weight = own.empty() ? 1.0 : own[k];
    code_target(coding, by, Y.cols, Y.row(rows[k]), code.data());
    for (size_t o = 0; o < outputs; ++o) {
      if (std::isnan(code[o]) || weight == 0) continue;
      total[o] += weight;
      sum[o] += (code[o] - sum[o]) * weight / total[o];
    }
  }
  return sum;
}

/// The best constants by the loss, instead of means.
std::vector<double> constants_of(const ScoreMetric& by, MatrixView<const double> Y,
                                 const std::vector<int64_t>& rows, std::span<const double> weights,
                                 Context& context) {
  const Matrix<double> targets = copied_targets(Y, rows, context);
  const std::vector<double> own = solver::numbers_of(weights, rows);
  std::vector<double> constants;
  for (int64_t o = 0; o < Y.cols; ++o)
    constants.push_back(by.loss.best_constant(targets.view(), o, own));
  return constants;
}

/// Inputs standardised as the model's, without its transforms.
Preparation plain_preparation(const Model& model, const TargetedRows& rows,
                              const std::vector<int64_t>& train, Context& context) {
  Preparation plain = model.preparation;
  plain.targets.clear();  // baselines predict untransformed targets
  if (plain.curves.empty()) return plain;
  PreparationOptions asked = model.fit.prepare;
  asked.transform = asked.target_transform = Transform::none;
  PreparationFacts found;
  found.flagged = plain.flagged;
  std::vector<double> own(rows.X.rows(), 0.0);
  for (const int64_t i : train) own[i] = rows.weights.empty() ? 1.0 : rows.weights[i];
  return RowSummary(asked, found, model.fit.select.seed, rows.X, {nullptr, rows.X.rows(), 0}, own,
                    context)
      .preparation();
}

/// Of numbers ridge, with lambda by leave-one-out; of classes logistic regression, whose weights of
/// standardised inputs are N(0, 1) a priori, as libraries take them.
solver::Weights linear_model(const solver::BlockSource& rows, const Model& model,
                             Context& context) {
  SelectionOptions how = model.fit.select;
  how.selection = Selection::leave_one_out;
  const Task task = model.fit.coding.task;
  if (task == Task::regression) return select(rows, how, task, {}, context).weights;
  solver::LossOptions loss;
  loss.loss = solver::find_loss("logistic");
  const solver::RowSpace space(rows, context);
  solver::LossFit fit(space.rows(), std::move(loss), context);
  fit.run(1 / static_cast<double>(rows.rows()), kLinearFit, context);
  return space.weights(fit.weights(), context);
}

}  // namespace

Baselines baselines(const Model& model, const Rows& X, MatrixView<const double> Y,
                    const std::vector<int64_t>& train, const std::vector<int64_t>& test,
                    Context& context, std::span<const double> weights) {
  const TargetOptions& coding = model.fit.coding;
  const Preparation plain = plain_preparation(model, {X, Y, weights}, train, context);
  const ScoreMetric by(coding.task, model.fit.estimate);
  const std::vector<double> mean = by.of_loss() ? constants_of(by, Y, train, weights, context)
                                                : mean_codes(coding, plain, Y, train, weights);
  const int64_t n = std::ssize(test), outputs = std::ssize(mean);
  Baselines result{Matrix<double>(n, outputs, context, kBaselines), {}};
  for (int64_t i = 0; i < n; ++i) std::ranges::copy(mean, result.constant.view().row(i));
  if (by.of_loss() || X.cols() > kMostLinearInputs) return result;

  const std::vector<double> learnt = class_weighted(
      Y, weights, class_factors(model.fit.estimate.parameters, coding.classes, Y, weights, train));
  const InputRows rows(plain, coding, {X, Y, learnt});
  const std::vector<int64_t> sample = sample_rows(train, kMostLinearRows, model.fit.select.seed);
  const solver::Weights linear = linear_model(*rows.subset(sample), model, context);
  result.linear = Matrix<double>(n, outputs, context, kBaselines);
  const CopiedRows given(X, test, context);
  const Matrix<double> targets = copied_targets(Y, test, context);
  for_each_scored(InputRows(plain, coding, {given.rows(), targets.view()}), {&linear, 1}, context,
                  [&](int64_t i, const double*, double, const double* scores) {
                    std::copy_n(scores, outputs, result.linear.view().row(i));
                  });
  return result;
}

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

/// Of each row, sums over the outputs that vary: its part of the deviation of 1 - loss / loss of a
/// constant, and its loss over the mean one of the constant.
struct RowTerms {
  explicit RowTerms(int64_t rows) : influence(rows, 0.0), loss(rows, 0.0) {}
  std::vector<double> influence, loss;
};

// Of a density that falls as u^-3, the mean of what exceeds u is 2 u.
constexpr double kBeyond = 2;

/// The standard error of 1 - loss / loss of a constant. Rows that have seen no bad one tell little
/// of those to come: as Laplace's rule has it, another of n rows is worse than all with probability
/// 1/n. A standard error supposes losses of finite variance, whose tails fall at least about as u^-2:
/// that row is then no worse in the mean than kBeyond times the worst one seen, nor is it worse than
/// the constant, which stands for all that a fit cannot foresee, also where no row has an error.
double error_of_explained(const RowTerms& terms, double varying, const std::vector<double>& shares,
                          std::span<const int64_t> clusters) {
  const double seen = kBeyond * std::ranges::max(terms.loss) / varying;
  const double worst = seen > 0 ? std::min(1.0, seen) : 1.0;
  double unseen = 0;
  for (const double share : clustered(shares, clusters)) unseen += share * share * worst;
  return std::hypot(error_of_sum(clustered(terms.influence, clusters)) / varying, unseen);
}

/// Adds output o's terms of R^2. False if the output does not vary.
bool add_terms(MatrixView<const double> Y, MatrixView<const double> predictions, int64_t o,
               const std::vector<double>& shares, RowTerms& terms) {
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
    terms.influence[i] += share(i) * excess / total;
    terms.loss[i] += error * error / total;
  }
  return true;
}

/// Likewise for 1 - loss / loss of the best constant.
bool add_terms(const ScoreMetric& by, MatrixView<const double> Y,
               MatrixView<const double> predictions, int64_t o, const std::vector<double>& shares,
               double& left, RowTerms& terms) {
  const double constant = by.loss.best_constant(Y, o, shares);
  double own = 0, total = 0;
  for (int64_t i = 0; i < Y.rows; ++i) {
    own += shares[i] * by.loss(Y(i, o), predictions(i, o));
    total += shares[i] * by.loss(Y(i, o), constant);
  }
  if (!(total > 0)) return false;
  left += own / total;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double loss = by.loss(Y(i, o), predictions(i, o));
    terms.influence[i] += shares[i] * (loss - own / total * by.loss(Y(i, o), constant)) / total;
    terms.loss[i] += loss / total;
  }
  return true;
}

Score score_of_loss(const ScoreMetric& by, MatrixView<const double> Y,
                    MatrixView<const double> predictions, const std::vector<double>& shares,
                    std::span<const int64_t> clusters) {
  RowTerms terms(Y.rows);
  double left = 0, varying = 0;
  for (int64_t o = 0; o < Y.cols; ++o)
    varying += add_terms(by, Y, predictions, o, shares, left, terms);
  if (varying == 0) return {kUnknown, kUnknown};
  return {1 - left / varying, error_of_explained(terms, varying, shares, clusters)};
}

double error_of_r_squared(MatrixView<const double> Y, MatrixView<const double> predictions,
                          const std::vector<double>& shares, std::span<const int64_t> clusters) {
  RowTerms terms(Y.rows);
  double varying = 0;
  for (int64_t o = 0; o < Y.cols; ++o) varying += add_terms(Y, predictions, o, shares, terms);
  return varying == 0 ? kUnknown : error_of_explained(terms, varying, shares, clusters);
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
double error_of_clustered_accuracy(double share, MatrixView<const double> Y,
                                   MatrixView<const double> predictions,
                                   const std::vector<double>& shares,
                                   std::span<const int64_t> clusters) {
  std::vector<double> terms;
  for (int64_t i = 0; i < Y.rows; ++i)
    terms.push_back(shares[i] * (is_right(Y, predictions, i) - share));
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
void judge_variances(MatrixView<const double> Y, const Predictions& predicted,
                     std::span<const double> weights, Assessment& result) {
  const double width = random::normal_quantile((1 + kInterval) / 2);
  double inside = 0, all = 0, nll = 0;
  for (int64_t i = 0; i < predicted.variance.rows(); ++i)
    for (int64_t o = 0; o < Y.cols; ++o) {
      if (std::isnan(Y(i, o))) continue;
      const double weight = weights.empty() ? 1.0 : weights[i];
      const double error = std::abs(Y(i, o) - predicted.model(i, o));
      const double variance = predicted.variance(i, o);
      all += weight;
      if (error <= width * std::sqrt(variance)) inside += weight;
      nll += weight * (std::log(2 * std::numbers::pi * variance) + error * error / variance) / 2;
    }
  if (all > 0) result.coverage = inside / all, result.nll = nll / all;
}

/// A model of all rows makes `left` times the errors of the folds' models: fewer, since these had
/// fewer rows, if they beat the baselines; or more, where its search found less than theirs. The
/// folds' models share most of their training rows, which widens the standard error (Nadeau and
/// Bengio 2003).
void tell_of_all_rows(double left, Assessment& folds) {
  // Of a fourth more rows errors that fall as n^-2 leave so much; less is one fold's bad choice.
  constexpr double kLeastLeft = 0.64;
  const bool learnt = folds.score > folds.constant && !(folds.score <= folds.linear);
  const bool counts =
      std::isfinite(left) && left > 0 && (left < 1 ? learnt : folds.score > folds.constant);
  left = std::max(left, kLeastLeft);
  const double gain = counts ? (1 - folds.score) * (1 - left) : 0;
  folds.score += gain;
  folds.standard_error = std::hypot(folds.standard_error * std::sqrt(1 + 1.0 / (kFolds - 1)), gain);
}

}  // namespace

void center_parts(std::span<const Split> parts, std::span<const double> weights,
                  MatrixView<double> Y, Predictions& predicted) {
  int64_t first = 0;
  for (const Split& part : parts) {
    const int64_t last = first + std::ssize(part.held_out);
    for (int64_t o = 0; o < Y.cols; ++o) {
      const double mean = observed_mean(Y, o, first, last, weights);
      for (const MatrixView<double> values :
           {Y, predicted.model.view(), predicted.baselines.constant.view(),
            predicted.baselines.linear.view()})
        for (int64_t i = first; i < std::min(last, values.rows); ++i) values(i, o) -= mean;
    }
    first = last;
  }
}

ScoreMetric::ScoreMetric(Task task, const EstimatorOptions& fitted) : ScoreMetric(task) {
  if (fitted.parameters.find("loss") == nullptr || task == Task::classification) return;
  const solver::Loss& fitted_by = *solver::find_loss(fitted.parameters.text("loss"));
  measure = fitted_by.counts      ? Measure::deviance
            : fitted_by.reads_tau ? Measure::pinball
                                  : Measure::absolute;
  loss.deviance = measure == Measure::deviance;
  if (fitted.parameters.find("tau") != nullptr) loss.tau = fitted.parameters.number("tau");
}

Score score_of(const ScoreMetric& by, MatrixView<const double> Y,
               MatrixView<const double> predictions, std::span<const double> weights,
               std::span<const int64_t> clusters) {
  const std::vector<double> shares = shares_of(weights, Y.rows);
  if (by.of_loss()) return score_of_loss(by, Y, predictions, shares, clusters);
  if (by.measure == Measure::r_squared)
    return {statistic::r_squared(Y, predictions, weights),
            error_of_r_squared(Y, predictions, shares, clusters)};
  const double share = statistic::accuracy(Y, predictions, weights);
  return {share, clusters.empty()
                     ? error_of_accuracy(share, shares)
                     : error_of_clustered_accuracy(share, Y, predictions, shares, clusters)};
}

Assessment assess(AssessmentRows kind, const ScoreMetric& by, MatrixView<const double> Y,
                  const Predictions& predicted, std::span<const double> weights, double left,
                  std::span<const int64_t> clusters) {
  const Score score = score_of(by, Y, predicted.model.view(), weights, clusters);
  Assessment result{
      .kind = kind,
      .measure = by.measure,
      .rows = Y.rows,
      .score = score.value,
      .standard_error = score.standard_error,
      .constant = score_of(by, Y, predicted.baselines.constant.view(), weights).value};
  if (predicted.baselines.linear.rows() > 0)
    result.linear = score_of(by, Y, predicted.baselines.linear.view(), weights).value;
  judge_variances(Y, predicted, weights, result);
  if (kind == AssessmentRows::nested) tell_of_all_rows(left, result);
  if (by.measure != Measure::accuracy) return result;
  result.balanced = balanced_score(Y, predicted.model.view(), weights, clusters);
  if (predicted.baselines.linear.rows() > 0)
    result.balanced_linear = balanced_score(Y, predicted.baselines.linear.view(), weights).value;
  return result;
}

Assessment assess_unseen(const Model& model, const TargetedRows& rows,
                         const std::vector<int64_t>& train, const std::vector<int64_t>& unseen,
                         const SplitRule& rule, Context& context) {
  const auto& [X, Y, weights, groups] = rows;
  const Matrix<double> targets = copied_targets(Y, unseen, context);
  Predictions predicted{
      Matrix<double>(std::ssize(unseen), model.outputs(), context, "predictions of rows held out"),
      baselines(model, X, Y, train, unseen, context, weights)};
  const CopiedRows copied(X, unseen, context);
  predict(model, copied.rows(), context, predicted.model.view(),
          score_extrapolation(model.fit.prepare.extrapolation));
  predicted.variance = variances_of(model, copied.rows(), context);
  Assessment found = assess(
      AssessmentRows::unseen, ScoreMetric(model.fit.coding.task, model.fit.estimate),
      targets.view(), predicted, solver::numbers_of(weights, unseen), 1, clusters_of(unseen, rule));
  found.groups = group_count(unseen, rule.groups);
  return found;
}

}  // namespace mercer::model
