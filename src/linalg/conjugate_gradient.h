// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A X = B for a symmetric positive definite operator, by preconditioned conjugate gradients
// (Hestenes, Stiefel 1952).
#pragma once

#include <functional>
#include <vector>

#include "linalg/linear_operator.h"

namespace mercer::linalg {

/// R becomes M^{-1} R, M symmetric positive definite: the nearer to A, the fewer steps.
using BlockPreconditioner = std::function<void(MatrixView<double> R)>;

struct CgOptions {
  double tolerance = 1e-10;  // on |b - A x| / |b| of every column, >= 0
  int64_t most_iterations = 1000;
  BlockPreconditioner preconditioner = {};  // none: the identity
};

struct CgResult {
  int64_t iterations = 0;
  std::vector<double> residuals;  // |b - A x| / |b| per column, computed from x
  bool converged = false;         // all of them are within the tolerance
  double worst() const;           // the largest residual
};

/// From X (n x k), which becomes the solution, 0 where b = 0. Columns step side by side, each with
/// numbers of its own, so that every step is one product with A; a column that is done stays as it
/// is. The recurrence's residual is believed only after it is computed anew: where rounding has
/// parted the two, the column begins again from its x, as long as that halves the residual. One
/// product per iteration and one per such check; 4 n k numbers (3 without a preconditioner).
/// Errors: a shape (DIMENSION_MISMATCH), an option out of its domain, B, X or a product that is not
/// finite (INVALID_ARGUMENT), p'A p <= 0 (NOT_POSITIVE_DEFINITE), CANCELLED, OUT_OF_MEMORY.
CgResult conjugate_gradient(const LinearOperator& A, MatrixView<const double> B,
                            const CgOptions& options, Context& context, MatrixView<double> X);

/// NOT_CONVERGED, with the residual, unless it converged.
void require_converged(const CgResult& result, const CgOptions& options);

}  // namespace mercer::linalg
