// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Symmetric eigendecomposition in place, within a stated memory.
#pragma once

#include <span>

#include "base/context.h"
#include "base/views.h"

namespace mercer::linalg {

/// How the tridiagonal problem is solved; memory on top of A, except for O(D) bytes:
enum class TridiagonalSolver {
  automatic,  // the first of the two that fits LAPACK's 32 bits and the context's memory cap
  divide_and_conquer,  // 12.5 D^2 bytes; eigenvectors orthogonal to a few eps; D <= 46338
  relatively_robust    // 8 D^2 bytes; orthogonal to about D eps
};

/// A = V diag(values) V', values ascending: A (D x D, lower triangle read) is replaced by V', so
/// row i is eigenvector i. O(D^3). Errors: A holds NaN or Inf (INVALID_ARGUMENT), OUT_OF_MEMORY,
/// CANCELLED, NOT_CONVERGED naming LAPACK's info.
void symmetric_eigen(MatrixView<double> A, std::span<double> values, Context& context,
                     TridiagonalSolver solver = TridiagonalSolver::automatic);

}  // namespace mercer::linalg
