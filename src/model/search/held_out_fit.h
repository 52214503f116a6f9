// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on some rows, judged on others, for a list of lambdas. Row statistics are kept, so that
// rows can be added and the final fit costs no second pass.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/rows/row_sets.h"
#include "model/search/lambda_walk.h"
#include "model/search/trial.h"
#include "solver/block_statistics.h"
#include "solver/coupled_path.h"

namespace mercer::model {

class HeldOutFit {
 public:
  enum class Sums { exact, single };  // single: products in f32, for lambda >= 1e-8
  /// References are kept.
  HeldOutFit(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
             solver::RowSet train, Sums sums, Context& context, const solver::RowsDone& done);

  /// Every lambda of the plan, in the order of evaluation, except those for which rounding leaves
  /// the system indefinite. Errors: NOT_POSITIVE_DEFINITE if all of them are.
  Trial judge(const LambdaPlan& plan, solver::RowSet held_out, const Judge& judge,
              Context& context) const;

  /// Adds training rows, none of which may have been added before.
  void add(solver::RowSet more, Context& context);
  /// Null for fewer rows than features, and for coupled outputs.
  const solver::RowStatistics* statistics() const { return statistics_.get(); }
  solver::Weights solve(double lambda, Context& context) const {
    return path_->solve(lambda, context);
  }

 private:
  void sum_rows(solver::RowSet rows, Context& context, const solver::RowsDone& done);
  void make_path(Context& context, const solver::RowsDone& done);

  const solver::BlockSource& rows_;
  solver::RidgeProblem problem_;
  std::vector<int64_t> fitted_;
  std::unique_ptr<solver::RowStatistics> statistics_;  // null: the path is made from rows
  std::unique_ptr<solver::LambdaPath> path_;
};

/// Every lambda on the held-out rows of each split; from ten lambdas on by an eigendecomposition
/// per split. Errors: those of judge, and if no lambda serves all splits.
Trial judge_splits(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                   const std::vector<Split>& splits, std::span<const double> lambdas,
                   const Judge& judge, Context& context, const solver::RowsDone& done);

}  // namespace mercer::model
