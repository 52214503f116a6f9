// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cholesky factor and triangular solves on row-major lower triangles.
#include <algorithm>
#include <cmath>
#include <vector>

#include "linalg/blas.h"
#include "linalg/lapack.h"

namespace mercer::linalg {
namespace {

void solve_triangular(CBLAS_TRANSPOSE transpose, MatrixView<const double> L, MatrixView<double> B) {
  require_shape(L, B.rows, B.rows, "triangular solve: L");
  const lapack_int n = extent(B.rows, "rows"), m = extent(B.cols, "columns");
  const lapack_int ldl = leading_dimension(L), ldb = leading_dimension(B);
  if (n == 0 || m == 0) return;
  prepare_call();
  cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, transpose, CblasNonUnit, n, m, 1.0, L.data, ldl,
              B.data, ldb);
}

constexpr int64_t kBlock = 32;  // rows: OpenBLAS factors so few on one thread
constexpr int64_t kSolved = 7;  // rows: and solves so few

/// B -= A C' in pieces below OpenBLAS's threshold.
void subtract_product(MatrixView<const double> A, MatrixView<const double> C,
                      MatrixView<double> B) {
  const int64_t step = kOneThreadProduct / std::max<int64_t>(1, A.cols * C.rows);
  for (int64_t i = 0; i < B.rows; i += step) {
    const int64_t end = std::min(i + step, B.rows);
    multiply(-1.0, kPlain, A.block_rows(i, end), kTransposed, C, 1.0, B.block_rows(i, end));
  }
}

lapack_int factor_by_lapack(MatrixView<double> A) {
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, kLowerRowMajor, extent(A.rows, "rows"), A.data,
                             leading_dimension(A));
}

/// B := B L^{-T}.
void solve_rows(MatrixView<const double> L, MatrixView<double> B) {
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
              extent(B.rows, "rows"), extent(B.cols, "columns"), 1.0, L.data, leading_dimension(L),
              B.data, leading_dimension(B));
}

/// Left-looking: a block of columns at a time, from the columns before it.
lapack_int factor_on_one_thread(MatrixView<double> A) {
  for (int64_t j = 0; j < A.rows; j += kBlock) {
    const int64_t end = std::min(j + kBlock, A.rows);
    const MatrixView<double> before = A.block_cols(0, j), columns = A.block_cols(j, end);
    const MatrixView<double> corner = columns.block_rows(j, end);
    rank_update_rows(-1.0, before.block_rows(j, end), corner);
    if (const lapack_int info = factor_by_lapack(corner); info != 0)
      return info > 0 ? static_cast<lapack_int>(j) + info : info;
    if (end == A.rows) break;
    const MatrixView<double> below = columns.block_rows(end, A.rows);
    if (j > 0) subtract_product(before.block_rows(end, A.rows), before.block_rows(j, end), below);
    for (int64_t i = 0; i < below.rows; i += kSolved)
      solve_rows(corner, below.block_rows(i, std::min(i + kSolved, below.rows)));
  }
  return 0;
}

/// Lower triangle of L^{-1} in place, or the 1-based row whose diagonal entry is 0.
lapack_int invert_on_one_thread(MatrixView<double> L) {
  std::vector<double> row(L.rows);
  for (int64_t i = 0; i < L.rows; ++i) {
    if (L(i, i) == 0) return static_cast<lapack_int>(i + 1);
    std::fill_n(row.begin(), i, 0.0);
    for (int64_t k = 0; k < i; ++k) {
      const auto width = static_cast<std::size_t>(k + 1);
      add(L(i, k), {L.row(k), width}, {row.data(), width});
    }
    L(i, i) = 1 / L(i, i);
    for (int64_t j = 0; j < i; ++j) L(i, j) = -L(i, i) * row[j];
  }
  return 0;
}

/// Lower triangle of X'X in place of the lower triangular X. Row i needs the rows below and itself.
void square_on_one_thread(MatrixView<double> X) {
  std::vector<double> column(X.rows), sums(X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    for (int64_t k = i; k < X.rows; ++k) column[k] = X(k, i);
    multiply(1.0, kTransposed, X.block_rows(i, X.rows).block_cols(0, i + 1), kPlain,
             MatrixView<const double>{&column[i], X.rows - i, 1}, 0.0, {sums.data(), i + 1, 1});
    std::copy_n(sums.begin(), i + 1, X.row(i));
  }
}

lapack_int inverse_from_factor(MatrixView<double> L) {
  if (L.rows > kOneThreadRows) {
    return LAPACKE_dpotri_work(LAPACK_COL_MAJOR, kLowerRowMajor, extent(L.rows, "rows"), L.data,
                               leading_dimension(L));
  }
  const lapack_int info = invert_on_one_thread(L);
  if (info == 0) square_on_one_thread(L);
  return info;
}

}  // namespace

int64_t cholesky(MatrixView<double> A) {
  require_shape(A, A.rows, A.rows, "cholesky: A");
  if (A.rows == 0) return 0;
  prepare_call();
  const lapack_int info = A.rows <= kOneThreadRows ? factor_on_one_thread(A) : factor_by_lapack(A);
  require(info >= 0, MERCER_INTERNAL, "dpotrf: argument %d is invalid", -static_cast<int>(info));
  if (info > 0) return info;
  // OpenBLAS only tests pivots for <= 0, which a NaN passes.
  for (int64_t i = 0; i < A.rows; ++i)
    if (!std::isfinite(A(i, i))) return i + 1;
  return 0;
}

void cholesky_solve(MatrixView<const double> L, MatrixView<double> B) {
  solve_triangular(CblasNoTrans, L, B);
  solve_triangular(CblasTrans, L, B);
}

void cholesky_inverse(MatrixView<double> L) {
  require_shape(L, L.rows, L.rows, "cholesky_inverse: L");
  if (L.rows == 0) return;
  prepare_call();
  const lapack_int info = inverse_from_factor(L);
  require(info >= 0, MERCER_INTERNAL, "dpotri: argument %d is invalid", -static_cast<int>(info));
  require(info == 0, MERCER_NOT_POSITIVE_DEFINITE, "diagonal entry %d of a Cholesky factor is 0",
          static_cast<int>(info));
}

void triangular_solve(MatrixView<const double> L, MatrixView<double> B, Transpose transpose) {
  solve_triangular(transpose == Transpose::no ? CblasNoTrans : CblasTrans, L, B);
}

}  // namespace mercer::linalg
