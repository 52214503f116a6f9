// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Search for transforms, kernel, lengthscales, lambda, estimator and D by leave-one-out or on
// held-out rows: a coarse walk with few features and rows, a finer one with more, one full fit, and
// an honest score.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"
#include "model/report.h"
#include "model/rows/row_sets.h"
#include "model/search/partial_map.h"

namespace mercer::model {

/// The time of a search, and what it is too short for.
class Budget {
 public:
  /// Seconds; 0: no bound.
  explicit Budget(double seconds) : seconds_(seconds) {}
  /// What is left of a share of the seconds.
  double left(double share = 1) const;
  /// Whether so many seconds are left; if not, `what` is left out.
  bool allows(double seconds, const char* what, double share = 1);
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  double seconds_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<std::string> left_out_;  // each once
};

/// Whether a lengthscale for each input is learnt (automatic relevance determination).
enum class PerInput {
  automatic,  // if rows and inputs allow; kept if better by more than chance
  off,
  on  // kept if better by one error, else one for all and a warning; refused if not learnable
};

enum class Estimator { automatic, ridge, logistic };

struct SearchOptions {
  /// Its selection is read for an estimator that is_fitted_last, on the map and preparation that
  /// ridge has chosen: it is scored by its own loss, and its lambda chosen in its own way.
  FitOptions fit;
  std::vector<int64_t> flagged = {};  // as in PreparationFacts, for missing = flag
  int64_t features = 2048;     // D of the final map, at most n for a map with a row per feature
  bool given_features = true;  // false: D is default_features', and fewer need no warning
  /// The limit up to which D is doubled while the learning curve says that it pays; 0: a given D,
  /// or affordable_features. Not with logistic regression, other losses or coupled outputs, a given
  /// lambda, or beyond the number of rows.
  int64_t most_features = 0;
  double lengthscale = 0;  // > 0: given, only lambda is searched
  double lambda = -1;      // >= 0: given, for fit.estimate
  double held_out_fraction = 0.1;
  /// Also tries log and rank of inputs, and keeps them if they beat fit.prepare.transform by more
  /// than a standard error. Needs a searched lengthscale and up to 100 dense standardised inputs.
  bool choose_transform = false;
  /// Also tries log (if positive) and rank of skewed targets, likewise: for regression with
  /// independent outputs.
  bool choose_target_transform = false;
  /// An honest score. Up to 1,000 rows: the search is repeated for five folds, each scored on its
  /// held-out rows: each repeat chooses from the losses of the other rows, and what gradients learn
  /// is learnt again. Up to 5,000 rows for fewer of the folds. Above: a tenth of the rows, 1,000 to
  /// 10,000, is kept from every choice, scored, and then added to the final fit. Classes are
  /// stratified. Below 10 rows there is none.
  bool assess = true;
  /// The rows that are kept from every choice and scored, ascending, in place of those of the seed;
  /// then there are no folds. Empty: the seed's.
  std::vector<int64_t> unseen = {};
  /// Classification: the estimator at the chosen lengthscale. automatic: the better one, if both
  /// can be afforded (estimator_choice.cpp); ridge if a posterior is asked for.
  Estimator estimator = Estimator::automatic;
  PerInput per_input = PerInput::automatic;
  /// Of fit.outputs.or_independent: what the search of independent outputs may choose, though the
  /// search of joined outputs, or of a field, may not.
  struct Independent {
    Scale scale = Scale::standard;
    bool choose_transform = false, choose_target_transform = false;
  } independent = {};
  /// 2,048 features by default, undoubled, and a score by rows held out once whatever their number.
  bool quick = false;
  bool takes_kernel = false;         // map exact at the end, whatever the number of rows
  double budget = 0;                 // seconds; 0: no bound
  Budget* time = nullptr;            // of that budget; set by search()
  bool learns_spectrum = false;      // frequencies and weights of features, by the evidence
  bool learns_part_weights = false;  // of a kernel's sum, by the evidence
  /// In a repeat without a fold: the rows of the first search, whose number decides whether
  /// lengthscales are learnt. Else 0.
  int64_t all_rows = 0;
  bool calibrate = true;    // classification: with probabilities
  int64_t few_missing = 0;  // inputs left out by leave_out_rare_flags, for a warning
  void (*report)(void* user, const SearchCandidate& candidate) =
      nullptr;  // on the calling thread, must not throw
  void* user = nullptr;
};

/// The share of many rows that is kept from every choice for the honest score, and the most rows.
inline constexpr double kUnseenShare = 0.1;
inline constexpr int64_t kMostUnseen = 10000;

/// Whether a search fits this estimator at its end: any but ridge and logistic regression, between
/// which it chooses.
bool is_fitted_last(const EstimatorOptions& asked);

/// The default D of a search: 2,048; for few rows (whose system is n x n whatever D) 4,096,
/// while n D <= 2^23, d D <= 2^25 and there is room.
int64_t default_features(int64_t n, int64_t d, const Context& context);
/// The largest D that a search takes by itself: 4,096, while n D^2 <= 2^38 (2^14 rows), d D <= 2^25
/// and there is room.
int64_t affordable_features(int64_t n, int64_t d, const Context& context);

/// Fits all rows at the lengthscale and lambda of the paired rule (select/selection.h), by
/// leave-one-out up to 3,000 rows, else on held-out rows. The model's path holds the lambdas tried
/// last. Memory: 2.5 x 8 D^2 bytes and a row block (n x D + 3 n^2 for n < D). Errors: as fit.
/// weights: n numbers >= 0, or none. Rows of weight 0 are removed first; the other weights count in
/// every sum, choice and score, but not in the median heuristic, splits, landmarks and subsamples.
/// class_weight = balanced, a parameter of ridge, also weighs rows by class in fits and choices,
/// not in scores and calibration. groups: n numbers, or none. Grouped rows, or rows ordered in time
/// (select.ordered), are held out by folds (row_sets.h) instead of one by one, with standard errors
/// of groups or tenths of the time.
Model search(const PartialMap& partial, const SearchOptions& options, const TargetedRows& rows,
             Context& context);

}  // namespace mercer::model
