// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernel ridge regression, the reference that random features are compared with: alpha = (K +
// n lambda I)^{-1} Y.
#pragma once

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::solver {

/// K is n x n symmetric (lower triangle read), destroyed. Returns alpha, n x outputs. Jitter as
/// ridge_cholesky.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            Context& context);

}  // namespace mercer::solver
