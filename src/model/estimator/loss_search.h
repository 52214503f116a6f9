// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of a loss (solver/loss_fit.h) on all rows but those held out, which choose lambda, tell the
// scale of residuals and calibrate probabilities. A tenth of few rows says little of either: below
// 3,000 rows folds are pooled, so that every row is held out once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/estimator/model_entry.h"
#include "model/rows/row_sets.h"
#include "model/select/held_out_rows.h"
#include "solver/loss_fit.h"

namespace mercer::model {

/// One split by held_out_fraction, or for fewer than 3,000 rows (of all processes) the
/// folds nearest to that share, 2 to 5.
std::vector<Split> splits_of(const solver::BlockSource& rows, const Selecting& selecting);

/// How a fit of a model's own parameters ends.
solver::LossFitOptions descent_of(const Parameters& own);

class LossSearch {
 public:
  /// rows are referred to.
  LossSearch(const solver::BlockSource& rows, const Selecting& selecting,
             const solver::LossFitOptions& descent, const solver::LossOptions& loss,
             Context& context);

  /// Lambda is walked from the largest of the path, each fit from the one before, until three in
  /// a row are worse; then the largest is taken whose mean loss on the rows held out is within one
  /// standard error of the paired difference from the best.
  double choose_lambda(Context& context);
  /// Of the last choice: mean losses on the rows held out.
  const std::vector<PathPoint>& path() const { return path_; }
  /// Scores of the rows held out by fits at lambda.
  ScoredRows score(double lambda, Context& context);
  /// Where a fit on all rows may begin: x of the last part's.
  std::span<const double> x() const { return parts_.back().fit->x(); }
  void set_parameters(const solver::LossParameters& parameters);

 private:
  struct Part {
    std::unique_ptr<solver::BlockSource> train, held_out;
    std::unique_ptr<solver::LossFit> fit;
  };

  ScoredRows run(double lambda, const solver::LossFitOptions& descent, Context& context);
  void weigh(const ScoredRows& scored);
  double chosen() const;

  const solver::BlockSource& rows_;
  Selecting selecting_;
  solver::LossFitOptions descent_;
  solver::LossOptions loss_;
  std::vector<Split> splits_;
  std::vector<Part> parts_;
  std::vector<PathPoint> path_;
  std::vector<std::vector<double>> losses_;  // of the rows held out, at each lambda of the path
  std::vector<double> weights_;              // of the rows held out in the mean of their losses
};

}  // namespace mercer::model
