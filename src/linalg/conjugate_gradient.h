// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A X = B for a symmetric positive definite operator, by preconditioned conjugate gradients
// (Hestenes, Stiefel 1952).
#pragma once

#include <functional>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "linalg/blas.h"

namespace mercer::linalg {

// Symmetric matrices given by their products with vectors, as iterative solvers need them. Blocks
// of k vectors are the columns of a matrix.

class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual int64_t rows() const = 0;

  /// Y = A X, with X and Y rows x k; Y must not overlap X. DIMENSION_MISMATCH.
  void apply(MatrixView<const double> X, Context& context, MatrixView<double> Y) const;

 private:
  /// Y = A X; shapes are already checked.
  virtual void multiply(MatrixView<const double> X, Context& context,
                        MatrixView<double> Y) const = 0;
};

/// Replaces R by M^{-1} R, M symmetric positive definite: the closer to A, the fewer steps.
using BlockPreconditioner = std::function<void(MatrixView<double> R)>;

struct CgOptions {
  double tolerance = 1e-10;  // on |b - A x| / |b| of every column, >= 0
  int64_t most_iterations = 1000;
  BlockPreconditioner preconditioner = {};  // none: the identity
  /// The residual is |M^{-1} (b - A x)| / |x| instead, the relative error of x where M is near A.
  bool relative_to_solution = false;
};

struct CgResult {
  int64_t iterations = 0;
  std::vector<double>
      residuals;  // |b - A x| / |b| per column, or as relative_to_solution says, computed from x
  bool converged = false;  // all residuals are within the tolerance
  double worst() const;    // the largest residual
};

/// Starts from X (n x k), which becomes the solution, 0 where b = 0. All columns iterate together,
/// each with its own step lengths, so that a step needs one product with A; a converged column
/// stays as it is. Convergence of the recurrence's residual is checked by computing the residual:
/// where rounding has driven the two apart, the column restarts from its x, as long as that halves
/// the residual. One product per iteration and one per check; 4 n k numbers (3 without a
/// preconditioner). Errors: a shape (DIMENSION_MISMATCH), an option out of its domain, B, X or a
/// product that is not finite (INVALID_ARGUMENT), p'A p <= 0 (NOT_POSITIVE_DEFINITE), CANCELLED,
/// OUT_OF_MEMORY.
CgResult conjugate_gradient(const LinearOperator& A, MatrixView<const double> B,
                            const CgOptions& options, Context& context, MatrixView<double> X);

/// Throws NOT_CONVERGED with the residual unless it converged.
void require_converged(const CgResult& result, const CgOptions& options);

}  // namespace mercer::linalg
