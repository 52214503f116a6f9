// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of predictions for rows that had no part in them, with their standard errors.
#pragma once

#include "model/assess/baselines.h"
#include "model/prepare/coding.h"
#include "model/report.h"
#include "model/rows/row_sets.h"
#include "statistic/explained_loss.h"

namespace mercer::model {

/// How predictions are scored: by the task, or as the loss that was fitted.
struct Measuring {
  Measuring(Task task)  // NOLINT: implicit, a task has a measure
      : measure(task == Task::classification ? Measure::accuracy : Measure::r_squared) {}
  Measuring(Task task, const Estimating& fitted);
  bool of_loss() const { return measure > Measure::accuracy; }
  Measure measure;
  statistic::RowLoss loss = {};
};

struct Score {
  double value = 0;           // as Measure has it, averaged over the outputs that vary
  double standard_error = 0;  // of independent rows
};

/// Targets as a fit takes them; predictions: a number per output, or a score per class. R^2 is a
/// ratio of two means over rows, e^2 over (y - mean y)^2, whose error comes out of its first
/// derivatives (delta method), and is larger where few rows make most of it. weights: of the rows
/// in every mean, or none; rows stay independent observations, so that weights of 1,000 each do not
/// shrink the error. clusters: of rows that are not, a number for each; the error is that of
/// independent clusters.
Score score_of(const Measuring& by, MatrixView<const double> Y,
               MatrixView<const double> predictions, std::span<const double> weights = {},
               std::span<const int64_t> clusters = {});

inline constexpr int64_t kFolds = 5;  // of nested searches, and of rows that calibrate

/// What five searches and baselines say of rows that they had not seen: predictions, row after row.
struct Foreseen {
  Matrix<double> model;
  Baselines baselines;
  Matrix<double> variance = {};  // of a Gaussian process: of new targets; else no rows
};
/// Takes the mean of each part's targets, n_k rows of weight w, from its targets and predictions:
/// R^2 is then of the parts about their own means. In rows that drift with time, knowing the mean of
/// a later part explains what nobody could have known.
void center_parts(std::span<const Split> parts, std::span<const double> weights,
                  MatrixView<double> Y, Foreseen& foreseen);
/// left, of nested ones: the errors of a fit to all rows over those of fits to four fifths, by the
/// criterion that both were chosen by. The model's score is that of all rows, the baselines' are
/// those of the folds.
Assessment assess(Assessed kind, const Measuring& by, MatrixView<const double> Y,
                  const Foreseen& foreseen, std::span<const double> weights = {}, double left = 1,
                  std::span<const int64_t> clusters = {});

}  // namespace mercer::model
