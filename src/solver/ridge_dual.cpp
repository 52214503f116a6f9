// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The dual form: alpha = (Z Z' + n lambda I)^{-1} Y, w = Z' alpha. Saunders, Gammerman, Vovk 1998.
// Centring is C Z with C = I - 11'/n, so the matrix is C Z Z' C: row means are subtracted from the
// n x n product and the rows themselves are left alone. alpha is orthogonal to 1 then; C alpha
// removes what rounding leaves of it.
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/size.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/centering.h"
#include "solver/jittered_cholesky.h"

namespace mercer::solver {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Lower triangle of K := C K C.
void center_both_sides(MatrixView<double> K) {
  const int64_t n = K.rows;
  std::vector<double> mean(static_cast<std::size_t>(n), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) {
      mean[static_cast<std::size_t>(i)] += K(i, j);
      mean[static_cast<std::size_t>(j)] += K(i, j);
    }
    mean[static_cast<std::size_t>(i)] += K(i, i);
  }
  for (double& value : mean) value /= static_cast<double>(n);
  const double total = std::accumulate(mean.begin(), mean.end(), 0.0) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j)
      K(i, j) += total - mean[static_cast<std::size_t>(i)] - mean[static_cast<std::size_t>(j)];
}

std::vector<double> column_means(MatrixView<const double> A) {
  std::vector<double> mean(static_cast<std::size_t>(A.cols), 0.0);
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) mean[static_cast<std::size_t>(j)] += A(i, j);
  for (double& value : mean) value /= static_cast<double>(A.rows);
  return mean;
}

/// alpha := K^+ alpha, eigenvalues up to `null_level` counting as zero. K is destroyed.
void solve_pseudo_inverse(MatrixView<double> K, double null_level, MatrixView<double> alpha,
                          Context& context) {
  std::vector<double> values(static_cast<std::size_t>(K.rows));
  linalg::symmetric_eigen(K, values, context);
  const Matrix<double> rotated(alpha.rows, alpha.cols);
  linalg::multiply(1.0, linalg::Transpose::no, K, linalg::Transpose::no, alpha, 0.0,
                   rotated.view());
  for (int64_t i = 0; i < K.rows; ++i) {
    const double s = values[static_cast<std::size_t>(i)];
    for (int64_t j = 0; j < alpha.cols; ++j) rotated(i, j) = s > null_level ? rotated(i, j) / s : 0;
  }
  linalg::multiply(1.0, linalg::Transpose::yes, K, linalg::Transpose::no, rotated.view(), 0.0,
                   alpha);
}

/// alpha := (K + shift I)^{-1} alpha. K is destroyed.
void solve_system(MatrixView<double> K, double shift, double null_level, MatrixView<double> alpha,
                  Context& context) {
  if (shift <= null_level) return solve_pseudo_inverse(K, null_level, alpha, context);
  for (int64_t i = 0; i < K.rows; ++i) K(i, i) += shift;
  jittered_cholesky(K, context);
  linalg::cholesky_solve(K, alpha);
}

double trace(MatrixView<const double> K) {
  double sum = 0;
  for (int64_t i = 0; i < K.rows; ++i) sum += K(i, i);
  return sum;
}

void subtract_from_columns(const std::vector<double>& offset, MatrixView<double> A) {
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) A(i, j) -= offset[static_cast<std::size_t>(j)];
}

}  // namespace

Weights ridge_dual(MatrixView<const double> Z, MatrixView<const double> Y, bool center,
                   double lambda, Context& context) {
  const int64_t n = Z.rows;
  require(Y.rows == n, MERCER_DIMENSION_MISMATCH, "Y has %lld rows, expected %lld as in Z",
          static_cast<long long>(Y.rows), static_cast<long long>(n));
  require_rows(n, "ridge_dual");
  const double shift = checked_shift(lambda, n);
  const int64_t words = checked_multiply(n, n, "dual ridge");
  context.require_memory(checked_multiply(8, words, "dual ridge"), "the dual form's n x n matrix");

  const Matrix<double> K(n, n);
  K.fill(0);
  linalg::rank_update_rows(1.0, Z, K.view());
  context.checkpoint();
  const double null_level = kEps * static_cast<double>(n) * trace(K.view());
  const Matrix<double> alpha(n, Y.cols);
  for (int64_t i = 0; i < n; ++i) std::copy_n(Y.row(i), Y.cols, alpha.view().row(i));
  Means means{std::vector<double>(static_cast<std::size_t>(Z.cols), 0.0),
              std::vector<double>(static_cast<std::size_t>(Y.cols), 0.0)};
  if (center) {
    means = {column_means(Z), column_means(Y)};
    subtract_from_columns(means.outputs, alpha.view());
    center_both_sides(K.view());
  }
  solve_system(K.view(), shift, null_level, alpha.view(), context);
  if (center) subtract_from_columns(column_means(alpha.view()), alpha.view());

  Weights weights{Matrix<double>(Z.cols, Y.cols), {}};
  linalg::multiply(1.0, linalg::Transpose::yes, Z, linalg::Transpose::no, alpha.view(), 0.0,
                   weights.w.view());
  weights.intercept = intercepts(means, weights.w.view());
  return weights;
}

}  // namespace mercer::solver
