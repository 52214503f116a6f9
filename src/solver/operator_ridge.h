// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on an operator-valued map without a matrix: theta minimises
//   (1/N) sum over observed (i, k) of 1/2 (f_k(x_i) - y_ik)^2 + lambda/2 |theta|^2,
// N the number of rows, whether or not all their outputs were observed (SPEC sections 8 and 13).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "linalg/conjugate_gradient.h"
#include "solver/nystroem_preconditioner.h"
#include "solver/operator_rows.h"

namespace mercer::solver {

enum class OperatorSolver { conjugate_gradient, lsqr };

struct OperatorRidgeOptions {
  OperatorSolver solver = OperatorSolver::conjugate_gradient;
  double tolerance = 1e-10;  // on OperatorRidge::residual; LSQR: or what rounding leaves of it
  int64_t most_iterations = 1000;
  /// Where the preconditioner of conjugate gradients stays, for further lambdas of the same rows
  /// and targets; null: it goes with the call.
  std::optional<NystroemPreconditioner>* sketch = nullptr;
};

struct OperatorRidge {
  int64_t iterations = 0;
  double residual = 0;  // |A'(y - A theta) - N lambda theta| / |A'y|, A the observed rows
  bool converged = false;
};

/// From theta (conjugate gradients; LSQR begins at 0), which becomes the solution. Two products
/// with the rows per iteration, at O(r + N p) memory. Conjugate gradients that have not converged
/// after 100 steps go on with a preconditioner of up to 100 eigenvectors
/// (nystroem_preconditioner.h) where 400 r + 8 N p numbers have room; its products count as
/// iterations. What did not converge is no error here: residual says how far it came. Errors:
/// lambda negative or not finite, those of ObservedRows and of the solver.
OperatorRidge operator_ridge(const OperatorRows& rows, MatrixView<const double> Y, double lambda,
                             const OperatorRidgeOptions& options, Context& context,
                             std::span<double> theta);

/// NOT_CONVERGED, with the residual and the tolerance that was asked for, unless it converged.
void require_converged(const OperatorRidge& result, double tolerance);

/// A'A + shift I of an operator A, which is referred to. Products go through A in blocks of 8
/// columns.
class NormalEquations final : public linalg::LinearOperator {
 public:
  NormalEquations(const linalg::LinearOperator& A, double shift) : A_(A), shift_(shift) {}
  int64_t rows() const override { return A_.cols(); }
  int64_t cols() const override { return A_.cols(); }

 private:
  void multiply(linalg::Transpose, MatrixView<const double> X, Context& context,
                MatrixView<double> Y) const override;
  const linalg::LinearOperator& A_;
  double shift_;
};

/// What a NystroemPreconditioner of A'A takes while it is made.
int64_t bytes_of_sketch(const linalg::LinearOperator& A, int64_t rank);

/// Whether kernel and features learnt the same (Brault, Heinonen, d'Alche-Buc, theorem 35 and what
/// follows it): r = sum_i Phi(x_i) u_i - theta, u the solution with the kernel Phi'Phi.
struct FeatureEquivalence {
  double residual = 0;  // |r| / |theta|: 0 where lambda is large enough for both
  double seen = 0;      // |Phi'r| / |Phi'theta| at the rows: not 0 where they predict differently
};
FeatureEquivalence feature_equivalence(const OperatorRows& rows, MatrixView<const double> u,
                                       std::span<const double> theta, Context& context);

}  // namespace mercer::solver
