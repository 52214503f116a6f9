// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One candidate of a search: a map fitted on some rows, its best lambda on the held-out rows.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/feature_rows.h"
#include "model/lambda_walk.h"
#include "solver/block_statistics.h"
#include "solver/lambda_path.h"

namespace mercer::model {

/// Which lambdas a trial looks at.
struct LambdaPlan {
  double fixed = -1;        // >= 0: this one alone
  bool whole_grid = false;  // every decade, for small D; else a walk
  double start = 1e-6;      // of the walk
  double factor = 10;
  int64_t most = 5;
};

/// Ridge on `train`, scored on `held_out`, for lambda after lambda. Statistics are kept, so that
/// rows can be added later.
class SearchTrial {
 public:
  SearchTrial(const solver::BlockSource& rows, const FitOptions& options, RowSet train,
              Context& context, const solver::RowsDone& done);

  /// Every lambda of the plan with its merit; best_of picks.
  std::vector<LambdaPoint> run(const LambdaPlan& plan, RowSet held_out, Context& context) const;

  /// Weights at lambda with the held-out rows added to those trained on: the final fit. Consumes
  /// the trial.
  solver::Weights solve_with(RowSet held_out, double lambda, Context& context);

 private:
  const solver::BlockSource& rows_;
  Task task_;
  bool center_;
  std::unique_ptr<solver::RowStatistics> statistics_;  // null for fewer rows than features
  std::unique_ptr<solver::LambdaPath> path_;
};

}  // namespace mercer::model
