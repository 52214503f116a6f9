// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The honest score of a model, beside those of a constant and of a linear model, and balanced
// accuracy.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"
#include "model/model.h"
#include "model/prepare/preparation.h"
#include "model/report.h"
#include "model/rows/row_sets.h"
#include "solver/row_weights.h"
#include "statistic/metrics.h"

namespace mercer::model {

// Balanced accuracy: the mean recall over classes, which is 1 / classes for a model that always
// predicts the largest class.

/// Y: class numbers; scores: rows x classes, NaN scores count as wrong; weights: > 0, or none. The
/// standard error is NaN if a class has a single row. clusters: as in score_of.
BalancedScore balanced_score(MatrixView<const double> Y, MatrixView<const double> scores,
                             std::span<const double> weights = {},
                             std::span<const int64_t> clusters = {});

// Baselines: a constant, and a linear model of the inputs themselves.

/// Predictions for the rows `test` by fits to `train`, test.count x outputs each.
struct Baselines {
  Matrix<double> constant;  // means of the (coded) targets, or the constant of least loss
  Matrix<double> linear;    // no rows above kMostLinearInputs, or for other losses than squares
};

inline constexpr int64_t kMostLinearInputs = 2000;

/// Extrapolation in an assessment: as the model's, but nothing is refused.
inline Extrapolation score_extrapolation(Extrapolation asked) {
  return asked == Extrapolation::free ? Extrapolation::free : Extrapolation::clip;
}

/// The linear model, ridge or of classes logistic regression, is fitted on a seeded sample of at most
/// 20,000 rows of `train`: of standardised inputs, which it neither transforms nor clips. weights: of
/// the rows of X, or none.
Baselines baselines(const Model& model, const Rows& X, MatrixView<const double> Y,
                    const std::vector<int64_t>& train, const std::vector<int64_t>& test,
                    Context& context, std::span<const double> weights = {});

// Scores of predictions for held-out rows, with standard errors.

/// How predictions are scored: by the task, or by the loss that was fitted.
struct ScoreMetric {
  ScoreMetric(Task task)  // NOLINT: implicit, a task has a measure
      : measure(task == Task::classification ? Measure::accuracy : Measure::r_squared) {}
  ScoreMetric(Task task, const EstimatorOptions& fitted);
  bool of_loss() const { return measure > Measure::accuracy; }
  Measure measure;
  statistic::RowLoss loss = {};
};

struct Score {
  double value = 0;           // the Measure, averaged over the outputs that vary
  double standard_error = 0;  // for independent rows or clusters
};

/// Y: targets as in a fit; predictions: a number per output, or a score per class. The standard
/// error of R^2, a ratio of the means of e^2 and (y - mean y)^2, is by the delta method, and of n
/// rows no less than 1/n or, if that is less, 2/n of the worst row's part. weights: of the rows, or
/// none; a row is one observation whatever its weight. clusters: the cluster of each row if only
/// clusters are independent, or none.
Score score_of(const ScoreMetric& by, MatrixView<const double> Y,
               MatrixView<const double> predictions, std::span<const double> weights = {},
               std::span<const int64_t> clusters = {});

/// Up to so many rows whole searches are repeated for the honest score.
inline constexpr int64_t kMostNested = 5000;
inline constexpr int64_t kFolds = 5;  // of nested searches, and of rows that calibrate

/// Predictions of the model and the baselines for held-out rows.
struct Predictions {
  Matrix<double> model;
  Baselines baselines;
  Matrix<double> variance = {};  // Gaussian process: predictive variances; else no rows
};
/// Subtracts the weighted mean of each part's targets from its targets and predictions, so that R^2
/// is about the parts' own means: in drifting rows the mean of a later part cannot be predicted.
void center_parts(std::span<const Split> parts, std::span<const double> weights,
                  MatrixView<double> Y, Predictions& predicted);
/// left: for nested assessment, the criterion of the fit to all rows over that of fits to four
/// fifths, which scales the model's errors. Baselines keep the errors of the folds.
Assessment assess(AssessmentRows kind, const ScoreMetric& by, MatrixView<const double> Y,
                  const Predictions& predicted, std::span<const double> weights = {},
                  double left = 1, std::span<const int64_t> clusters = {});

/// Scores `unseen` rows by a model that has not seen them, and baselines of the rows `train`.
Assessment assess_unseen(const Model& model, const TargetedRows& rows,
                         const std::vector<int64_t>& train, const std::vector<int64_t>& unseen,
                         const SplitRule& rule, Context& context);

}  // namespace mercer::model
