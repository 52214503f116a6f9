// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of rows that were not fitted on, kept with their targets: for losses row by row and for
// calibration.
#pragma once

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

/// The loss of every row at scores of as many columns as outputs.
std::vector<double> row_losses(const solver::LossOptions& options, const ScoredRows& rows);

/// The rows of all, one after the other.
ScoredRows joined(const std::vector<ScoredRows>& parts, Context& context);

/// -log p of each row's class, p as calibrated and not below 1e-15.
std::vector<double> log_losses(const ScoredRows& rows, const Calibration& calibration);
/// sum w x / sum w, where w is not 0, over all processes. INVALID_ARGUMENT unless the weights sum
/// to a positive number.
double weighted_mean(std::span<const double> x, std::span<const double> weights,
                     solver::Reduction* reduction);

/// Share of the rows' weight whose class has not the largest score, NaN scores included.
double error_rate(const ScoredRows& rows);

/// The calibration that suits them; empty if they weigh nothing.
Calibration fit_calibration(const ScoredRows& rows, Context& context, Prior prior);

}  // namespace mercer::model
