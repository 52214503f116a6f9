// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Search for lengthscale and lambda, by leave-one-out or on held-out rows: a walk with fewer
// features and rows, a finer one with more, then one full fit, and a score of rows that no choice
// has seen.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/model.h"
#include "model/report.h"
#include "model/search/estimator_choice.h"
#include "model/search/map_maker.h"

namespace mercer::model {

/// Whether a lengthscale for each input is learnt (automatic relevance determination).
enum class PerInput {
  automatic,  // where rows and inputs allow, and kept where it wins
  off,
  on  // kept where it is no worse, else the one for all is that of each, with a warning; refused
      // where it cannot be learnt
};

struct SearchOptions {
  Fitting fit;                        // selection is the search's own
  std::vector<int64_t> flagged = {};  // as Found has them, of missing = flag
  int64_t features = 2048;  // D of the final map; fewer where it takes a row for each and has fewer
  bool given_features = true;  // false: D is default_features', and that there are fewer is no news
  /// Up to which D is doubled while its learning curve says that this pays; 0: no further than one
  /// that is given, else affordable_features'. Not of classes that logistic regression is tried on,
  /// other losses, outputs that are joined, nor with lambda given or beyond the number of rows.
  int64_t most_features = 0;
  double lengthscale = 0;  // > 0: not searched (then lambda alone is)
  double lambda = -1;      // >= 0: not searched
  double held_out_fraction = 0.1;
  /// True: where the lengthscale is searched, of up to 100 dense standardised inputs, log and rank
  /// are tried, too, and kept where they beat fit.prepare.transform by more than a standard error.
  bool choose_transform = false;
  /// True: of a regression with skewed targets that nothing joins, log (of positive ones) and rank
  /// are tried, too, and kept where they beat fit.prepare.target_transform likewise.
  bool choose_target_transform = false;
  /// True: a score that no choice has seen. Up to 1,000 rows: the whole search again for each of
  /// five folds, each scored on the fold. More: a tenth of the rows, at most 10,000, is kept away
  /// from every choice, scored, and then added to what the weights are solved from. Below 10 rows
  /// there is none.
  bool assess = true;
  /// Of a classification: what is fitted with the lengthscale found. automatic: the better of both
  /// where both can be afforded (estimator_choice.h), ridge if a posterior is asked for.
  Estimator estimator = Estimator::automatic;
  /// Fitted on the map and preparation found in place of ridge: another loss, whose score it then
  /// is, or a Gaussian process. Its lambda is chosen in its own way, or given.
  std::optional<Estimating> final_estimate = {};
  double final_lambda = -1;  // >= 0: given
  PerInput per_input = PerInput::automatic;
  int64_t part_of =
      0;  // rows, of a fold: it learns lengthscales where a search of all of them does
  bool calibrate = true;    // a classification: it has probabilities
  int64_t few_missing = 0;  // inputs that leave_out_rare_flags has left out: a warning says so
  void (*report)(void* user, const SearchCandidate& candidate) =
      nullptr;  // on the calling thread, must not throw
  void* user = nullptr;
};

/// D of a search that is given none: 2,048, and where rows are few, whose system is n x n whatever
/// D, up to 8,192, while n D is at most 2^23, d D at most 2^25 and there is room.
int64_t default_features(int64_t n, int64_t d, const Context& context);
/// The most that a search goes up to by itself: 8,192, while n D^2 is at most 2^39, that of 2^13
/// rows, d D at most 2^25 and there is room.
int64_t affordable_features(int64_t n, int64_t d, const Context& context);

/// The model is fitted on all rows with the lengthscale and lambda that the paired rule of
/// paired_choice.h takes: by leave-one-out for up to 3,000 rows, else on held-out ones. Its path
/// holds the lambdas tried last with their scores, its report all else. Memory: 2.5 x 8 D^2 bytes
/// and a row block (n x D + 3 n^2 for n < D). Errors: as fit.
/// weights: n numbers >= 0, or none; rows of weight 0 are left out before anything else, those of
/// others count by it in every sum, choice and score. Start of the lengthscale, splits, landmarks
/// and subsamples are of rows as they are. With class_weight = balanced (of ridge, whose parameter
/// it is) every fit and choice weighs rows by their class as well, scores and calibration do not.
/// groups: n numbers, or none. Rows in groups, or with select.ordered in time, are held out by the
/// rule of row_sets.h, in folds instead of one by one, and errors are those of groups or of tenths
/// of the time.
Model search(const MapMaker& maker, const SearchOptions& options, const Rows& X,
             MatrixView<const double> Y, Context& context, std::span<const double> weights = {},
             std::span<const double> groups = {});

}  // namespace mercer::model
