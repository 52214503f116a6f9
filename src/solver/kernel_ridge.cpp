// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// alpha = (K + n lambda I)^{-1} Y by Cholesky. Saunders, Gammerman, Vovk 1998.
#include "solver/kernel_ridge.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/numbers.h"
#include "linalg/blas.h"
#include "linalg/symmetric_eigen.h"
#include "solver/centering.h"
#include "solver/jittered_cholesky.h"

namespace mercer::solver {

Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            Context& context) {
  return kernel_ridge(K, Y, lambda, static_cast<double>(K.rows), context);
}

Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            double n, Context& context) {
  require(K.rows == K.cols && Y.rows == K.rows, MERCER_DIMENSION_MISMATCH,
          "K is %ld x %ld and Y has %ld rows, expected a square K with a row for each of Y's",
          K.rows, K.cols, Y.rows);
  require_rows(K.rows, "kernel_ridge");
  const double shift = checked_shift(lambda, n);
  for (int64_t i = 0; i < K.rows; ++i) K(i, i) += shift;
  jittered_cholesky(K, context);
  Matrix<double> alpha(Y.rows, Y.cols, context, "the weights of the rows");
  for (int64_t i = 0; i < Y.rows; ++i) std::copy_n(Y.row(i), Y.cols, alpha.view().row(i));
  linalg::cholesky_solve(K, alpha.view());
  return alpha;
}

int64_t solve_pseudo_inverse(MatrixView<double> K, MatrixView<double> alpha, Context& context) {
  double trace = 0;
  for (int64_t i = 0; i < K.rows; ++i) trace += K(i, i);
  const double null_level = kEpsilon * static_cast<double>(K.rows) * trace;
  std::vector<double> values(K.rows);
  linalg::symmetric_eigen(K, values, context);
  const Matrix<double> rotated(alpha.rows, alpha.cols, context, "targets among eigenvectors");
  linalg::multiply(1.0, linalg::Transpose::no, K, linalg::Transpose::no, alpha, 0.0,
                   rotated.view());
  for (int64_t i = 0; i < K.rows; ++i) {
    const double s = values[i];
    for (int64_t j = 0; j < alpha.cols; ++j) rotated(i, j) = s > null_level ? rotated(i, j) / s : 0;
  }
  linalg::multiply(1.0, linalg::Transpose::yes, K, linalg::Transpose::no, rotated.view(), 0.0,
                   alpha);
  return std::ranges::count_if(values, [=](double s) { return s > null_level; });
}

}  // namespace mercer::solver
