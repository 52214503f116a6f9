// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The report of a fit: the trials of its search, its choice and the score of its model.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "model/estimator/predictor.h"
#include "model/prepare/preparation.h"
#include "solver/ridge_system.h"

namespace mercer::model {

/// What a trial of a search is for.
enum SearchStage : int64_t {
  kCoarseStage,
  kFineStage,
  kInputStage,     // a lengthscale for each input, or a metric
  kFeaturesStage,  // other features, and other starts on all rows
  kChoiceStage,    // least squares at the final choice, beside the next
  kLogisticStage,  // logistic regression beside least squares
  kScoreStage      // the honest score
};

struct SearchCandidate {
  int64_t stage;       // a SearchStage
  int64_t features;    // D of this trial
  int64_t rows;        // rows fitted on
  double lengthscale;  // of standardised inputs; 0: the kernel has none; NaN: one for each input
  double lambda;       // the best for this lengthscale; in kChoiceStage the one kept
  double score;        // 1 - R^2 (NaN if an output is constant), or the error rate
  double seconds;      // since the one before, so that they add up to those of the search
  Transform transform = Transform::none;  // of the inputs
  // Mean loss (select/judge.h) at that lambda, by which candidates are compared; NaN: unknown.
  double loss = kNaN;
  // The mixture: of the kernel, or the weight of Gamma; NaN: none.
  double shape = kNaN;
  std::string kernel = {};  // its name, with nu if it has one; empty in files of earlier versions
  Transform target_transform = Transform::none;
};

/// The rows that a score was taken on.
enum class AssessmentRows {
  none,
  nested,  // rows of some or all folds, each by a search that had not seen it
  unseen   // rows that no choice has seen
};

struct ClassScore {
  int64_t rows = 0;
  double recall = kNaN;                 // weighted; NaN without rows
  std::vector<int64_t> predicted = {};  // of these rows, by the class of the largest score; or none
};

struct BalancedScore {
  double value = kNaN;              // over classes that have rows
  double standard_error = kNaN;     // for independent rows
  std::vector<ClassScore> classes;  // empty for regression
};

/// R^2, accuracy, or 1 - mean loss / mean loss of the best constant (Koenker and Machado 1999;
/// McFadden's explained deviance); averaged over outputs.
enum class Measure { r_squared, accuracy, pinball, absolute, deviance };

/// NaN: unknown or undefined.
struct Assessment {
  AssessmentRows kind = AssessmentRows::none;
  Measure measure = Measure::r_squared;
  int64_t rows = 0;
  int64_t groups = 0;  // of these rows; 0: not grouped
  double score = kNaN;
  double standard_error = kNaN;
  double constant = kNaN;       // score of the mean, or of the largest class
  double linear = kNaN;         // score of ridge on prepared inputs
  BalancedScore balanced = {};  // classification
  double balanced_linear = kNaN;
  /// Gaussian process: the share of targets inside the predictive intervals of level kInterval.
  double coverage = kNaN;
  double nll = kNaN;  // Gaussian process: mean negative log density of the targets, in nats
};
inline constexpr double kInterval = 0.9;

/// How candidates were compared.
enum class ComparisonMethod { none, leave_one_out, held_out, folds };

/// The declared dependence of rows.
enum class RowDependence { exchangeable, grouped, ordered };

/// Of a density by score matching (estimator/density_model.cpp); NaN: unknown.
struct DensityReport {
  double loss = kNaN;            // J of rows held out, at the lambda that was chosen
  double standard_error = kNaN;  // its error
  double base_loss = kNaN;       // J of the base density on the same rows
  double error_of_gain = kNaN;   // of base_loss - loss
  double log_normaliser = kNaN;
  double normaliser_error = kNaN;  // standard error of log_normaliser
  double effective_draws = kNaN;   // (sum v)^2 / sum v^2 of the draws' weights v = exp(f)

  bool known() const noexcept { return !std::isnan(loss) || !std::isnan(log_normaliser); }
};

/// A penalty on derivatives that was tried, and its squared error on rows held out.
struct PenaltyPoint {
  double tau;
  double loss;
};

/// Of a fit that selects inputs (estimator/sparse_inputs_model.cpp).
struct InputsReport {
  double tau = kNaN;
  double gap = kNaN;               // the duality gap over what ridge gains on a constant
  std::vector<double> norms = {};  // ||d_a f|| of each prepared input; empty: not known
  std::vector<int64_t> selected = {};
  std::vector<PenaltyPoint> path = {};  // empty: tau was given

  bool known() const noexcept { return !norms.empty(); }
};

struct FitReport {
  RowDependence rows_are = RowDependence::exchangeable;
  ComparisonMethod criterion = ComparisonMethod::none;
  int64_t criterion_rows = 0;     // on which candidates were compared
  double criterion_score = kNaN;  // of the chosen candidate
  double lengthscale = 0;
  double lambda = 0;
  double shape = kNaN;                    // as in SearchCandidate
  Transform transform = Transform::none;  // of the inputs
  std::string kernel;                     // as in SearchCandidate
  Transform target_transform = Transform::none;
  double dimension = kNaN;  // Tr H at the choice
  Assessment assessment;
  std::vector<SearchCandidate> trials;
  std::vector<double> relevance;  // of each input, largest 1; empty: not learnt
  std::vector<std::string> warnings;
  Components components;
  DensityReport density;
  InputsReport inputs;
  solver::SolverRun run;
  double elbo = kNaN;  // variational bound of the log evidence of classes, in nats
  // As solver::Posterior's.
  double log_evidence = kNaN, log_evidence_error = kNaN, variance_error = kNaN;

  void warn(const std::vector<std::string>& more) {
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  /// Whether there is a report: of a search, of principal components, or of a solver, an evidence,
  /// a bound, a density, norms of derivatives or warnings alone.
  bool known() const noexcept {
    return !trials.empty() || !components.variances.empty() || run.known() || !warnings.empty() ||
           !std::isnan(elbo) || !std::isnan(log_evidence) || density.known() || inputs.known();
  }
};

}  // namespace mercer::model
