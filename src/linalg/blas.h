// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// BLAS and LAPACK behind one header, in terms of MatrixView. Row-major; LP64: extents are checked
// against 32 bits (rows are split by callers). Never called inside parallel_for. BLAS keeps the
// process's own thread count: OpenBLAS has no count per thread or call. Its
// openblas_set_num_threads_local (from 0.3.27) stores into globals like openblas_set_num_threads,
// so two concurrent calls that save and restore the count may leave the process with the lower one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/views.h"

namespace mercer::linalg {

/// Lower triangle of C += alpha A'A, A is n x D, C is D x D (dsyrk).
void rank_update(double alpha, MatrixView<const double> A, MatrixView<double> C);
/// Lower triangle of C = alpha A'A + beta C (ssyrk).
void rank_update(float alpha, MatrixView<const float> A, float beta, MatrixView<float> C);
/// Lower triangle of C += alpha A A', A is n x D, C is n x n.
void rank_update_rows(double alpha, MatrixView<const double> A, MatrixView<double> C);

enum class Transpose { no, yes };
inline constexpr Transpose kPlain = Transpose::no, kTransposed = Transpose::yes;
/// C = alpha op(A) op(B) + beta C.
void multiply(double alpha, Transpose transpose_a, MatrixView<const double> A,
              Transpose transpose_b, MatrixView<const double> B, double beta, MatrixView<double> C);
void multiply(float alpha, Transpose transpose_a, MatrixView<const float> A, Transpose transpose_b,
              MatrixView<const float> B, float beta, MatrixView<float> C);

/// x'y, and y += alpha x, of vectors of one size.
double dot(std::span<const double> x, std::span<const double> y);
void add(double alpha, std::span<const double> x, std::span<double> y);

/// C += alpha S B with S symmetric, lower triangle read (dsymm).
void multiply_symmetric(double alpha, MatrixView<const double> S, MatrixView<const double> B,
                        MatrixView<double> C);

enum class Triangle { lower, upper };
/// Makes A symmetric by one of its triangles.
void copy_triangle(Triangle from, MatrixView<double> A);

/// A = L L' in place (lower triangle). Returns 0, or the 1-based pivot that is not positive.
int64_t cholesky(MatrixView<double> A);
/// The same; CANCELLED between its steps.
int64_t cholesky(MatrixView<double> A, Context& context);
/// B := (L L')^{-1} B.
void cholesky_solve(MatrixView<const double> L, MatrixView<double> B);
/// Lower triangle of (L L')^{-1} in place of L.
void cholesky_inverse(MatrixView<double> L);
/// The diagonal of (L L')^{-1}, for half of the products. L is destroyed.
std::vector<double> cholesky_inverse_diagonal(MatrixView<double> L);
/// B := L^{-1} B, or L^{-T} B.
void triangular_solve(MatrixView<const double> L, MatrixView<double> B,
                      Transpose transpose = Transpose::no);

// The triangular factor of an orthogonal factorisation.

/// Replaces A (r x D, r <= D) by R, upper trapezoidal: R(j, l) = 0 for l < j and R'R = A'A, up to
/// rounding of the norm of A. 2 r^2 D operations. Errors: OUT_OF_MEMORY, UNSUPPORTED (32 bits).
void upper_trapezoid(MatrixView<double> A, Context& context);

// Means of columns, and subtracting them from rows.

/// sum w_i A(i, j) / sum w_i in two passes, so that columns far from zero keep their digits (Chan,
/// Golub, LeVeque 1983). At least one row; weights: one per row, with a positive sum; none: 1 each.
std::vector<double> column_means(MatrixView<const double> A, std::span<const double> weights = {});

/// A -= 1 offset'.
void subtract_from_rows(std::span<const double> offset, MatrixView<double> A);

// Which BLAS does the products and factorisations, as it says itself.

struct BlasLibrary {
  std::string version;  // and how it was built
  std::string core;     // whose kernels run here
  int threads;          // of the process: this library leaves them alone
};

BlasLibrary blas_found();

// Symmetric eigendecomposition in place, within a stated memory.

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
