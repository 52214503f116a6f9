// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge of coupled outputs (coupling.h); rows may miss some targets (NaN). theta minimises
//   (1/n) sum w_i/2 |S^{-1}(y_i - f(x_i))|^2 + lambda/2 |theta|^2,
// summed over observed targets, n the weight of the rows that have one. `center` fits intercepts.
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
  /// Mean over the outputs.
  virtual double effective_dimension(double lambda) const = 0;
  /// Leave-one-out residuals of a block of the training rows, which starts at row block.first. A
  /// row is left out with all its targets, and n lambda is kept: rows x (lambdas times outputs),
  /// all outputs of the first lambda first. 0 for a missing target, infinite for a row that is
  /// interpolated whatever its targets.
  virtual Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                                       Context& context) const = 0;
  /// The negative log marginal likelihood in nats, up to a constant of the targets and their units:
  /// evidence.h. Outputs without a coupling have an amplitude each.
  virtual double evidence(double lambda) const = 0;
  Solution solution(double lambda, Context& context) const override {
    return {solve(lambda, context), effective_dimension(lambda)};
  }
};

/// Whether rows are passed over again and again (iterative_path.h), and what helps to converge: a
/// sketch of low rank, or the Gram matrix in single precision.
enum class Iterative { no, sketch, gram };

/// Options of ridge on the features of a source.
struct RidgeProblem {
  bool center = true;
  const Coupling* coupling = nullptr;  // null: outputs are independent
  Iterative iterative = Iterative::no;
  /// Outputs depend on each other, or some targets are missing.
  bool is_coupled(const BlockSource& rows) const {
    return coupling != nullptr || !rows.is_complete();
  }
};

/// From one eigendecomposition of size min(D, n) where one root serves all features and no target
/// is missing, else of size min(r, number of targets). Errors: DIMENSION_MISMATCH, OUT_OF_MEMORY
/// before any row is read, those of the decomposition.
std::unique_ptr<CoupledPath> make_coupled_path(const BlockSource& rows, const RidgeProblem& problem,
                                               Context& context, const RowsDone& done = {});
/// By a Cholesky factor for each lambda, or as make_coupled_path where that is no more work. No
/// leave_one_out.
std::unique_ptr<LambdaPath> make_coupled_factors(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done = {});
/// By one eigendecomposition, of D features or n rows or as make_coupled_path: cheaper than factors
/// from ten lambdas on. Not for an iterative problem.
std::unique_ptr<LambdaPath> make_decomposed_path(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done = {});
/// Progress: the work of making a path, in rows that are summed up.
int64_t coupled_rows(const BlockSource& rows, const RidgeProblem& problem);

}  // namespace mercer::solver
