// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores and losses of rows that a fit has not seen, held out or left out in closed form, and the
// choice between candidates by their paired differences.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "model/prepare/preparation.h"
#include "model/select/calibration.h"
#include "solver/block_source.h"
#include "solver/coupled_path.h"
#include "solver/dual_system.h"
#include "solver/loss.h"
#include "solver/ridge.h"
#include "solver/ridge_factor.h"

namespace mercer::model {

// The loss of one held-out row.

/// The score of the row's class minus the largest other score: 1 for perfect one-hot scores, <= 0
/// for an error, NaN if any score is. code: one-hot, of at least two classes.
double margin(const double* scores, const double* code, int64_t classes) noexcept;
/// A smooth step in the margin, 1 / (1 + exp(margin / 0.1)); 1 for NaN. Its minimum over lambda and
/// lengthscale is near the error rate's, with less noise: neighbouring candidates differ in the
/// errors of a handful of rows, but in every row's margin.
double soft_error(double margin) noexcept;

/// The loss that selection compares. Regression: squared errors times a scale per output, summed
/// over observed targets. Classification: the soft error.
class RowLoss {
 public:
  RowLoss(Task task, std::vector<double> scale) : task_(task), scale_(std::move(scale)) {}
  double operator()(const double* scores, const double* code) const noexcept;

 private:
  Task task_;
  std::vector<double> scale_;  // one per output
};

/// Plain sums of squares: scales of 1.
RowLoss plain_loss(Task task, int64_t outputs);

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

// Leave-one-out residuals of training rows, in closed form, for a list of lambdas.

/// A row, its coded target, its weight and its leave-one-out residuals y - f, all outputs of the
/// first lambda first.
using LeftOutRow =
    std::function<void(int64_t row, const double* code, double weight, const double* residuals)>;

/// One more pass over the rows.
void for_each_left_out(const solver::BlockSource& rows, const solver::RidgePath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done = {});
/// At the factor's lambda; weights: the factor's.
void for_each_left_out(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
                       const solver::Weights& weights, Context& context, const LeftOutRow& body);
void for_each_left_out(const solver::BlockSource& rows, const solver::CoupledPath& path,
                       std::span<const double> lambdas, Context& context, const LeftOutRow& body,
                       const solver::RowsDone& done = {});
/// For a dual system, which must be decomposed.
void for_each_left_out(const solver::DualSystem& system, std::span<const double> lambdas,
                       Context& context, const LeftOutRow& body);

// Leave-one-out scores of some training rows, in closed form: for calibration of a fit that held no
// rows out.

/// Scores of at most 5,000 rows in each process, chosen by seed. A row that the fit interpolates
/// has none: its weight is 0.
class LeftOutScores {
 public:
  LeftOutScores(uint64_t seed, Context& context) : seed_(seed), context_(context) {}

  void take(const solver::BlockSource& rows, const solver::RidgePath& path, double lambda);
  void take(const solver::BlockSource& rows, const solver::CoupledPath& path, double lambda);
  void take(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
            const solver::Weights& weights);
  /// All rows of the system.
  void take(const solver::DualSystem& system, const Matrix<double>& residuals);

  ScoredRows& rows() { return scored_; }

 private:
  std::vector<int64_t> prepare(const solver::BlockSource& rows, int64_t most);
  LeftOutRow adding();

  uint64_t seed_;
  Context& context_;
  ScoredRows scored_;
};

// The one-standard-error rule with paired differences: the simplest candidate whose loss is within
// one standard error of the least. The plain rule (Breiman et al. 1984) takes the error of the
// least loss, most of which all candidates share; the error of a paired difference is far smaller.

/// Means and errors of differences of candidates' losses on the same rows. Rows may have weights
/// w >= 0 and be spread over processes.
class PairedLosses {
 public:
  explicit PairedLosses(int64_t candidates);
  int64_t candidates() const noexcept { return static_cast<int64_t>(sums_.size()); }
  /// Adds one row's losses, one per candidate. A row of weight 0 may hold anything.
  void add(const double* losses, double weight = 1);
  /// Sums over the processes that share the source's rows.
  void reduce(const solver::BlockSource& rows);

  double weight() const noexcept { return counts_[1]; }
  /// sum w l / sum w; not finite if a row's loss is not.
  double mean(int64_t k) const;
  /// Standard error of mean(a) - mean(b) for independent rows: the square root of
  /// sum w^2 (d - mean d)^2 / (sum w)^2 times n / (n - 1). Infinite for one row.
  double error_of_difference(int64_t a, int64_t b) const;

 private:
  double counts_[3] = {0, 0, 0};       // rows of w > 0, sum w, sum w^2
  std::vector<double> sums_;           // sum w l
  std::vector<double> weighted_sums_;  // sum w^2 l
  Matrix<double> products_;            // sum w^2 l l', lower triangle
};

/// The first candidate of least mean loss; ignores losses that are not finite unless all are.
int64_t least_loss(const PairedLosses& losses);

/// The candidate of least effective dimension, the first of equals, among those whose mean loss
/// exceeds the least by at most the standard error of that difference and is at most twice the
/// least (if that is positive). dimensions: Tr H of each.
int64_t paired_choice(const PairedLosses& losses, std::span<const double> dimensions);

}  // namespace mercer::model
