// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge of coupled outputs (coupling.h), of which rows may miss some targets (NaN): theta minimises
//   (1/n) sum w_i/2 |S^{-1}(y_i - f(x_i))|^2 over what was observed + lambda/2 |theta|^2,
// n the weight of the rows that have a target, and with `center` b is the best of each output.
#pragma once

#include <memory>
#include <span>

#include "solver/block_source.h"
#include "solver/coupling.h"
#include "solver/lambda_path.h"

namespace mercer::solver {

class CoupledPath : public LambdaPath {
 public:
  virtual int64_t outputs() const noexcept = 0;
  /// Of an output, on average.
  virtual double effective_dimension(double lambda) const = 0;
  /// Residuals of a block of the rows that it was made of, block.first its first, when the row, all
  /// its targets, is left out and n lambda kept: rows x (lambdas times outputs), all outputs of the
  /// first lambda first. 0 where there is no target, infinite where the fit passes through the row
  /// whatever its targets.
  virtual Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                                       Context& context) const = 0;
  Solution solution(double lambda, Context& context) const override {
    return {solve(lambda, context), effective_dimension(lambda)};
  }
};

/// What is asked of ridge on the features of a source.
struct RidgeProblem {
  bool center = true;
  const Coupling* coupling = nullptr;  // null: outputs are independent
  bool iterative = false;              // by make_iterative_path (iterative_path.h)
  /// Several outputs depend on each other, or miss targets where others have them.
  bool is_coupled(const BlockSource& rows) const {
    return coupling != nullptr || !rows.is_complete();
  }
};

/// From one eigendecomposition of the smaller side: of D features or n rows where one root serves
/// all features and no target is missing, else of r coefficients or as many targets as there are.
/// Errors: DIMENSION_MISMATCH, OUT_OF_MEMORY before a row is read, those of the decomposition.
std::unique_ptr<CoupledPath> make_coupled_path(const BlockSource& rows, const RidgeProblem& problem,
                                               Context& context, const RowsDone& done = {});
/// By a Cholesky factor for each lambda, or the same as above where that is no more work. No
/// leave_one_out.
std::unique_ptr<LambdaPath> make_coupled_factors(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done = {});
/// For ten lambdas and more, which cost less by one eigendecomposition than by a factor for each: of
/// D features or n rows, or of coupled outputs as above. Not of an iterative problem.
std::unique_ptr<LambdaPath> make_decomposed_path(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done = {});
/// Of progress: what making one takes, in rows that are summed up.
int64_t coupled_rows(const BlockSource& rows, const RidgeProblem& problem);

}  // namespace mercer::solver
