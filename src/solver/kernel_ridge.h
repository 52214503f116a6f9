// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernel ridge regression: alpha = (K + n lambda I)^{-1} Y, the reference for features.
#pragma once

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

/// K: symmetric (lower triangle read), destroyed. Returns alpha, of the shape of Y. n: the number
/// of rows, or the sum of their weights if K and Y carry square roots of weights. Jitter as in
/// ridge_cholesky.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            double n, Context& context);
/// alpha := K^+ alpha, eigenvalues up to eps n Tr K counting as zero: lambda = 0 of the minimum
/// norm. Returns the number of the others. K is destroyed.
int64_t solve_pseudo_inverse(MatrixView<double> K, MatrixView<double> alpha, Context& context);
/// n = rows of K.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            Context& context);

}  // namespace mercer::solver
