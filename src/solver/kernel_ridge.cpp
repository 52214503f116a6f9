// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// alpha = (K + n lambda I)^{-1} Y by Cholesky. Saunders, Gammerman, Vovk 1998.
#include "solver/kernel_ridge.h"

#include <algorithm>

#include "base/error.h"
#include "linalg/blas.h"
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

}  // namespace mercer::solver
