// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on some rows, judged on others, for lambda after lambda. What was summed is kept, so that
// rows can be added and the last fit costs no second pass.
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
  enum class Sums { exact, single };  // single: products in f32, for lambdas of 1e-8 and more
  /// References are kept.
  HeldOutFit(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
             solver::RowSet train, Sums sums, Context& context, const solver::RowsDone& done);

  /// Every lambda of the plan, in the order of evaluation, but those too small for what rounding
  /// has left below zero in the Gram matrix. Errors: NOT_POSITIVE_DEFINITE if that is all of them.
  Trial judge(const LambdaPlan& plan, solver::RowSet held_out, const Judge& judge,
              Context& context) const;

  /// More rows to fit on; none of them may be among those it has.
  void add(solver::RowSet more, Context& context);
  /// Null for fewer rows than features, and of coupled outputs.
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
  std::unique_ptr<solver::RowStatistics> statistics_;  // null where the path is made of rows
  std::unique_ptr<solver::LambdaPath> path_;
};

/// Every lambda on the rows held out of each split, by fits to its others: ten and more by a
/// decomposition of each. Errors: those of judge, and where no lambda serves all splits.
Trial judge_splits(const solver::BlockSource& rows, const solver::RidgeProblem& problem,
                   const std::vector<Split>& splits, std::span<const double> lambdas,
                   const Judge& judge, Context& context, const solver::RowsDone& done);

}  // namespace mercer::model
