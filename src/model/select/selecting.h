// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Options of how lambda is chosen.
#pragma once

#include <cstdint>

namespace mercer::model {

/// fixed: given. held_out, kfold, gcv: the least error on held-out rows, over folds, by generalised
/// cross-validation. loo: leave-one-out with the paired rule of paired_choice.h. evidence: the
/// largest marginal likelihood. gcv fails unless n is well above Tr H: on ten data sets of 200 to
/// 800 rows its mean R^2 was -9, that of loo .65.
enum class Selection { fixed, held_out, kfold, gcv, loo, evidence };

struct Selecting {
  Selection selection = Selection::loo;
  double lambda = 1e-6;        // for fixed
  double lambda_largest = 10;  // path, in the unit below
  double lambda_smallest = 1e-12;
  int64_t lambda_count = 27;
  int64_t folds = 5;               // kfold
  double held_out_fraction = 0.1;  // held_out
  double noise = 0;                // evidence: its variance, if it is known
  uint64_t seed = 0;     // of every choice of rows: held out, in folds, sampled for quantiles
  bool ordered = false;  // in time: held-out rows are later than training rows
  double unit = 1;       // lambda_unit (selection.h) of the rows; a fit sets it
};

/// Whether the path of lambda is left at its defaults.
inline bool leaves_path(const Selecting& asked) {
  const Selecting usual;
  return asked.lambda_largest == usual.lambda_largest &&
         asked.lambda_smallest == usual.lambda_smallest && asked.lambda_count == usual.lambda_count;
}

/// One lambda that was tried. Its score is the mean squared error summed over outputs; for
/// classification by held_out or kfold the error rate, by loo the soft error of row_loss.h; for
/// evidence that of solver/evidence.h summed over outputs, of coupled ones in nats; in a search
/// 1 - R^2 or the error rate; for the model logistic its mean loss.
struct PathPoint {
  double lambda;
  double score;
};

}  // namespace mercer::model
