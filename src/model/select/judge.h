// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The judge of rows that a fit has not seen, held out or left out in closed form: their scores,
// losses and error rates.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "model/prepare/preparation.h"
#include "model/rows/clipping.h"
#include "model/rows/feature_rows.h"
#include "model/select/calibration.h"
#include "solver/block_source.h"
#include "solver/loss.h"
#include "solver/ridge_system.h"

namespace mercer::model {

// The loss of one held-out row.

/// The score of the row's class minus the largest other score: 1 for perfect one-hot scores, <= 0
/// for an error, NaN if any score is. code: one-hot, of at least two classes.
double margin(const double* scores, const double* code, int64_t classes) noexcept;
/// A smooth step in the margin, 1 / (1 + exp(margin / 0.1)); 1 for NaN. Its minimum over lambda and
/// lengthscale is near the error rate's, with less noise: neighbouring candidates differ in the
/// errors of a handful of rows, but in every row's margin.
double soft_error(double margin) noexcept;

/// The losses that choices compare. Regression: squared errors times a scale per output, summed
/// over observed targets. Classification: the soft error.
class Judge {
 public:
  /// Plain sums of squares.
  Judge(Task task, int64_t outputs)
      : task_(task), outputs_(outputs), scales_(static_cast<size_t>(outputs), 1.0) {}
  /// Losses in units of the targets' variance over these rows, so that their mean is 1 - R^2.
  /// weights: of the rows of Y, or none.
  Judge(const TargetOptions& coding, MatrixView<const double> Y, solver::RowSet rows,
        std::span<const double> weights = {});
  /// A judge for scores of transformed targets: undoes the target transforms of `by`, limits scores
  /// as predictions are, and compares with Y. Without transforms, this judge. References are kept.
  Judge of(const Preparation& by, MatrixView<const double> Y) const;
  /// A judge for these rows of Y.
  Judge on(solver::RowSet rows) const;
  /// Without target transforms.
  double loss(const double* scores, const double* code) const noexcept;
  /// i: the row's position among the judged rows. scratch: one number per output.
  double loss(int64_t i, const double* scores, const double* code, double* scratch) const noexcept;
  bool wrong(const double* scores, const double* code) const noexcept {
    return !(margin(scores, code, outputs_) > 0);
  }
  bool varies() const noexcept { return varies_; }
  bool classifies() const noexcept { return task_ == Task::classification; }
  /// The score of a candidate: the error rate, or the loss if every target varies.
  double score(double loss, double error_rate) const noexcept;

 private:
  void take_scales(MatrixView<const double> Y, solver::RowSet rows,
                   std::span<const double> weights);

  Task task_;
  int64_t outputs_;
  bool varies_ = true;
  std::vector<double> scales_;       // one per output
  std::vector<Limits> limits_;       // of predictions, for regression
  const Preparation* by_ = nullptr;  // with target transforms
  MatrixView<const double> Y_ = {};  // original targets
  solver::RowSet rows_ = {};
};

// Scores of held-out rows.

struct HeldOutScore {
  double weight = 0;         // sum of the row weights
  double squared_error = 0;  // mean over rows, summed over outputs (one-hot codes of classes)
  double error_rate = 0;     // classification only; NaN scores count as wrong

  /// The score that selection minimises and reports.
  double criterion(Task task) const {
    return task == Task::classification ? error_rate : squared_error;
  }
};

/// One score per set of coefficients, in one pass over the rows of all processes: features are
/// computed once. Means are weighted. weights must not be empty.
std::vector<HeldOutScore> score_rows(const solver::BlockSource& rows, Task task,
                                     std::span<const solver::Weights> weights, Context& context);

// Scores of held-out rows, kept with their targets for row losses and calibration.

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

/// Takes leave-one-out residuals of this many sets of coefficients and gives body the scores.
solver::LeftOutRow scores_left_out(int64_t outputs, int64_t sets, ScoredRow body);

// Leave-one-out scores of some training rows, in closed form: for calibration of a fit that held no
// rows out.

/// Scores of at most 5,000 rows in each process, chosen by seed, or of all rows where the system is
/// not by Z'Z. A row that the fit interpolates has none: its weight is 0.
class LeftOutScores {
 public:
  LeftOutScores(uint64_t seed, Context& context) : seed_(seed), context_(context) {}

  /// The weights at lambda; takes the scores of rows left out there.
  solver::Weights solve(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                        solver::RidgeSystem& system, double lambda);
  ScoredRows& rows() { return scored_; }

 private:
  uint64_t seed_;
  Context& context_;
  ScoredRows scored_;
};

}  // namespace mercer::model
