// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of held-out rows, kept with their targets for row losses and calibration.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "model/select/calibration.h"
#include "solver/loss_objective.h"

namespace mercer::model {

struct ScoredRows {
  Matrix<double> scores, targets;          // rows x outputs; targets coded
  std::vector<double> weights;             // one per row
  solver::Reduction* reduction = nullptr;  // of the source
};
/// rows x outputs numbers, charged to the context.
ScoredRows score_all(const solver::BlockSource& rows, const solver::Weights& weights,
                     Context& context);
/// The same by any scoring(features, scores) of blocks of rows.
using Scoring = std::function<void(MatrixView<const double> Z, MatrixView<double> scores)>;
ScoredRows score_all(const solver::BlockSource& rows, const Scoring& scoring, Context& context);

/// The loss of every row; scores have as many columns as targets.
std::vector<double> row_losses(const solver::LossOptions& options, const ScoredRows& rows);

/// The rows of all parts, one after the other.
ScoredRows joined(const std::vector<ScoredRows>& parts, Context& context);

/// -log p of each row's class, with p calibrated and at least 1e-15.
std::vector<double> log_losses(const ScoredRows& rows, const Calibration& calibration);
/// sum w x / sum w over rows of w != 0 in all processes. INVALID_ARGUMENT unless sum w > 0.
double weighted_mean(std::span<const double> x, std::span<const double> weights,
                     solver::Reduction* reduction);

/// Weighted share of rows whose class has not the largest score; NaN scores count as errors.
double error_rate(const ScoredRows& rows);

/// fit_calibration (calibration.h) on these rows; empty if none has a weight.
Calibration fit_calibration(const ScoredRows& rows, Context& context, Prior prior);

}  // namespace mercer::model
