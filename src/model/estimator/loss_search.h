// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fits of a loss (solver/loss_fit.h) with held-out rows, which choose lambda, give the scale of
// residuals and calibrate probabilities. Below 3,000 rows one held-out tenth is too small: folds
// are pooled, so that every row is held out once.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/estimator/model_entry.h"
#include "model/rows/row_sets.h"
#include "model/select/judge.h"
#include "solver/block_source.h"
#include "solver/loss_fit.h"
#include "solver/ridge_system.h"

namespace mercer::model {

/// One split by held_out_fraction, or below 3,000 rows (over all processes) 2 to 5 folds, whichever
/// is nearest to that share. The order of exchangeable rows does not matter.
std::vector<Split> splits_of(const solver::BlockSource& rows, const SelectionOptions& selecting,
                             Context& context);

/// The stopping rule in a model's own parameters.
solver::LossFitOptions descent_of(const Parameters& own);

class LossSearch {
 public:
  /// rows are referred to.
  LossSearch(const solver::BlockSource& rows, const SelectionOptions& selecting,
             const solver::LossFitOptions& descent, const solver::LossOptions& loss,
             Context& context);

  /// Fits lambdas of the path from the largest down, each from the fit before, until three in a row
  /// are worse. Takes the largest lambda within one standard error of the paired difference from
  /// the best mean loss on held-out rows.
  double choose_lambda(Context& context);
  /// Mean losses on the held-out rows in the last choice.
  const std::vector<PathPoint>& path() const { return path_; }
  /// Scores of the held-out rows at lambda.
  ScoredRows score(double lambda, Context& context);
  /// A starting point for a fit on all rows: x of the last part.
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
  SelectionOptions selecting_;
  solver::LossFitOptions descent_;
  solver::LossOptions loss_;
  std::vector<Split> splits_;
  std::vector<Part> parts_;
  std::vector<PathPoint> path_;
  std::vector<std::vector<double>> losses_;  // of held-out rows, at each lambda of the path
  std::vector<double> weights_;              // of held-out rows in their mean loss
};

// Robust units of targets: (y - median) / scale, with scale 1.4826 times the median absolute
// deviation (the standard deviation of normal numbers), or if that is 0 the mean absolute
// deviation, or 1.

/// A number of weight > 0; weight 2 stands for two equal numbers.
struct WeightedNumber {
  double value, weight;
};
/// The weighted median; 0 without numbers. Reorders them.
double median(std::vector<WeightedNumber>& numbers);
/// 1.4826 times the median of |numbers|. Changes them.
double robust_scale(std::vector<WeightedNumber>& numbers);

struct TargetUnits {
  std::vector<double> median, scale;  // per output

  /// Converts coefficients for targets in units to coefficients for y.
  void undo(solver::Weights& weights) const;
};

/// One pass over the rows of positive weight; about 0 unless `center`. With several processes, the
/// means of their units.
TargetUnits robust_units(const solver::BlockSource& rows, bool center, Context& context);

/// The rows with their targets in units; both are referred to.
std::unique_ptr<solver::BlockSource> in_units(const solver::BlockSource& rows,
                                              const TargetUnits& units);

}  // namespace mercer::model
