// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a search has done and how far its model can be trusted.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "model/estimator/predictor.h"
#include "model/prepare/curve.h"

namespace mercer::model {

struct SearchCandidate {
  int64_t stage;       // 0 coarse, 1 fine, 2 a lengthscale for each input, 3 other features, 4 what
                       // is kept
  int64_t features;    // D of this trial
  int64_t rows;        // rows fitted on
  double lengthscale;  // in units of the standardised inputs; 0: the kernel has none; NaN: one for
                       // each input
  double lambda;       // the best for this lengthscale; in stage 3 the one kept
  double score;  // by the criterion: mean squared error over the outputs' variance (1 - R^2; NaN
                 // where an output is constant), or the error rate
  double seconds;
  Transform transform = Transform::none;  // of the inputs
  // What candidates are compared by: mean loss (row_loss.h) of that lambda; NaN: not known.
  double loss = kNaN;
  // Of how outputs are learnt together: the kernel's share, or Gamma's weight; NaN: there is none.
  double shape = kNaN;
  std::string kernel = {};  // its name; empty in files of earlier versions
  Transform target_transform = Transform::none;
};

/// What a score was taken on.
enum class Assessed {
  none,
  nested,  // every row, by five searches that had not seen it
  unseen   // rows that no choice has seen
};

struct ClassScore {
  int64_t rows = 0;
  double recall = kNaN;  // by weights; of no row unknown
};

struct BalancedScore {
  double value = kNaN;              // over classes that have rows
  double standard_error = kNaN;     // of independent rows
  std::vector<ClassScore> classes;  // none of a regression
};

/// What a score is: R^2, accuracy, or of a loss 1 - its mean over that of the best constant
/// (Koenker and Machado 1999; McFadden's share of the deviance); averaged over outputs.
enum class Measure { r_squared, accuracy, pinball, absolute, deviance };

/// NaN: not known, or not defined.
struct Assessment {
  Assessed kind = Assessed::none;
  Measure measure = Measure::r_squared;
  int64_t rows = 0;
  int64_t groups = 0;  // these rows are of; 0: rows were in none
  double score = kNaN;
  double standard_error = kNaN;
  double constant = kNaN;       // of the mean, or the largest class
  double linear = kNaN;         // of ridge on prepared inputs
  BalancedScore balanced = {};  // of classes
  double balanced_linear = kNaN;
  /// Of a Gaussian process: the share of targets inside the intervals that should hold kInterval.
  double coverage = kNaN;
  double nll = kNaN;  // and the mean negative log density of these, in nats
};
inline constexpr double kInterval = 0.9;

/// How candidates were compared.
enum class ComparedBy { none, leave_one_out, held_out, folds };

/// What rows may know of each other, as was said of them.
enum class RowsAre { exchangeable, grouped, ordered };

struct FitReport {
  RowsAre rows_are = RowsAre::exchangeable;
  ComparedBy criterion = ComparedBy::none;
  int64_t criterion_rows = 0;     // that candidates were compared on
  double criterion_score = kNaN;  // of the chosen one
  double lengthscale = 0;
  double lambda = 0;
  double shape = kNaN;                    // as SearchCandidate has it
  Transform transform = Transform::none;  // of the inputs
  std::string kernel;                     // as SearchCandidate has it
  Transform target_transform = Transform::none;
  double dimension = kNaN;  // Tr H where it was chosen
  Assessment assessment;
  std::vector<SearchCandidate> trials;
  std::vector<double> relevance;  // of each input, largest 1; empty: not learnt
  std::vector<std::string> warnings;
  Components components;

  /// A model of a search has one, and one of components these alone.
  bool known() const noexcept { return !trials.empty() || !components.variances.empty(); }
};

}  // namespace mercer::model
