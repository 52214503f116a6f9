// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernel ridge regression, the reference that random features are compared with: alpha = (K +
// n lambda I)^{-1} Y.
#pragma once

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::solver {

/// K is symmetric with a row for each of Y's (lower triangle read), destroyed. Returns alpha, of
/// the shape of Y. n: the rows, or the sum of their weights where K and Y carry their roots. Jitter
/// as ridge_cholesky.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            double n, Context& context);
/// n = rows of K.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            Context& context);

}  // namespace mercer::solver
