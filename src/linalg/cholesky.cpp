// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cholesky factor and triangular solves on row-major lower triangles.
#include <cmath>

#include "linalg/blas.h"
#include "linalg/lapack.h"

namespace mercer::linalg {
namespace {

void solve_triangular(CBLAS_TRANSPOSE transpose, MatrixView<const double> L, MatrixView<double> B) {
  require_shape(L, B.rows, B.rows, "triangular solve: L");
  const lapack_int n = extent(B.rows, "rows"), m = extent(B.cols, "columns");
  const lapack_int ldl = leading_dimension(L), ldb = leading_dimension(B);
  if (n == 0 || m == 0) return;
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, n, m, 1.0, L.data, ldl,
              B.data, ldb);
}

}  // namespace

int64_t cholesky(MatrixView<double> A) {
  require_shape(A, A.rows, A.rows, "cholesky: A");
  const lapack_int n = extent(A.rows, "rows"), lda = leading_dimension(A);
  if (n == 0) return 0;
  const lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, kLowerRowMajor, n, A.data, lda);
  require(info >= 0, MERCER_INTERNAL, "dpotrf: argument %d is invalid", -static_cast<int>(info));
  if (info > 0) return info;
  // OpenBLAS only tests pivots for <= 0, which a NaN passes.
  for (int64_t i = 0; i < n; ++i)
    if (!std::isfinite(A(i, i))) return i + 1;
  return 0;
}

void cholesky_solve(MatrixView<const double> L, MatrixView<double> B) {
  solve_triangular(CblasNoTrans, L, B);
  solve_triangular(CblasTrans, L, B);
}

void cholesky_inverse(MatrixView<double> L) {
  require_shape(L, L.rows, L.rows, "cholesky_inverse: L");
  const lapack_int n = extent(L.rows, "rows"), ldl = leading_dimension(L);
  if (n == 0) return;
  const lapack_int info = LAPACKE_dpotri_work(LAPACK_COL_MAJOR, kLowerRowMajor, n, L.data, ldl);
  require(info >= 0, MERCER_INTERNAL, "dpotri: argument %d is invalid", -static_cast<int>(info));
  require(info == 0, MERCER_NOT_POSITIVE_DEFINITE, "diagonal entry %d of a Cholesky factor is 0",
          static_cast<int>(info));
}

void triangular_solve(MatrixView<const double> L, MatrixView<double> B, Transpose transpose) {
  solve_triangular(transpose == Transpose::no ? CblasNoTrans : CblasTrans, L, B);
}

}  // namespace mercer::linalg
