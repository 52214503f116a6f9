// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is asked of how lambda is chosen.
#pragma once

#include <cstdint>

namespace mercer::model {

/// How lambda is chosen: given, or the least error on held-out rows, over folds, by generalised
/// cross-validation; by leave-one-out, the paired rule of paired_choice.h. Generalised
/// cross-validation fails where n is not well above Tr H: on 200 to 800 rows, ten data sets, its
/// mean R^2 was -9 where leave-one-out had .65. evidence: the largest marginal likelihood.
enum class Selection { fixed, held_out, kfold, gcv, loo, evidence };

struct Selecting {
  Selection selection = Selection::loo;
  double lambda = 1e-6;        // for fixed
  double lambda_largest = 10;  // path
  double lambda_smallest = 1e-12;
  int64_t lambda_count = 27;
  int64_t folds = 5;               // kfold
  double held_out_fraction = 0.1;  // held_out
  uint64_t seed = 0;     // of every choice of rows: held out, in folds, sampled for quantiles
  bool ordered = false;  // in time: rows held out are later than those learnt from
};

/// One lambda that was tried: its score on the selection's criterion (mean squared error, summed
/// over outputs; of the evidence as solver/evidence.h has it, summed over them; for
/// classification with held_out or kfold the error rate, with loo the soft error
/// of row_loss.h; from a search 1 - R^2 or the error rate; of the model logistic its mean loss).
struct PathPoint {
  double lambda;
  double score;
};

}  // namespace mercer::model
