// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Outputs that are learnt together: f(x) = S C'z(x) + b, S the diagonal of the targets' units. Row
// c of C (D x p) is B_c theta_c, and ridge penalises |theta|^2 instead of |C|^2. A kernel k Gamma
// has one root B B' = Gamma for all features, a matrix-valued spectral density one root per
// frequency (Brault, Heinonen, d'Alche-Buc 2016, sections 3 and 5.3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "solver/block_source.h"
#include "solver/lambda_path.h"

namespace mercer::solver {

class Coupling {
 public:
  /// roots: row c is B_c (p x q), row after row, D of them, or one for all features; scale: p
  /// numbers > 0. Errors: INVALID_ARGUMENT for roots that are empty, 0 or not finite.
  Coupling(int64_t outputs, Matrix<double> roots, std::vector<double> scale, Context& context);
  /// p independent outputs.
  static Coupling independent(int64_t outputs, Context& context);

  int64_t outputs() const noexcept { return outputs_; }                   // p
  int64_t width() const noexcept { return roots_.cols() / outputs_; }     // q
  int64_t coefficients(int64_t D) const noexcept { return D * width(); }  // r, of theta
  MatrixView<const double> roots() const noexcept { return roots_.view(); }
  /// One root serves all features.
  bool shared() const noexcept { return roots_.rows() == 1; }
  double root(int64_t c, int64_t output, int64_t column) const noexcept {
    return roots_(shared() ? 0 : c, output * width() + column);
  }
  const std::vector<double>& scale() const noexcept { return scale_; }
  /// spread: C (D x p) from theta (D x q), without the targets' units. gather: its adjoint.
  void spread(MatrixView<const double> theta, MatrixView<double> C) const noexcept;
  void gather(MatrixView<const double> C, MatrixView<double> theta) const noexcept;

  /// For a shared root: B B' = Q diag(g) Q', Q p x p, g ascending and >= 0. In the basis Q outputs
  /// are independent, and output j is a ridge at lambda / g_j (a diagonalised Stein equation).
  MatrixView<const double> Q() const noexcept { return Q_.view(); }
  /// lambda / g_j for each j, infinity for g_j = 0.
  std::vector<double> lambdas(double lambda) const;

 private:
  int64_t outputs_;
  Matrix<double> roots_;
  std::vector<double> scale_;
  Matrix<double> Q_;
  std::vector<double> g_;
};

// Ridge of coupled outputs; rows may miss some targets (NaN). theta minimises
//   (1/n) sum w_i/2 |S^{-1}(y_i - f(x_i))|^2 + lambda/2 |theta|^2,
// summed over observed targets, n the weight of the rows that have one. `center` fits intercepts.

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
  /// ridge.h. Outputs without a coupling have an amplitude each.
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
