// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact ridge with an operator-valued kernel, the reference for features: f(x) = sum_i K(x, x_i)
// u_i with (K + N lambda I) u = y over the observed entries of y (N x p, NaN: not observed), u = 0
// at the others. Block (i, j) of K, (N p) x (N p), is K(x_i, x_j); N is the number of rows.
#pragma once

#include "solver/operator_ridge.h"
#include "solver/stein.h"

namespace mercer::solver {

/// By conjugate gradients on K's action, from u (N x p), which becomes the solution. One product a
/// step. Errors: those of operator_ridge.
OperatorRidge operator_kernel_ridge(const linalg::LinearOperator& K, MatrixView<const double> Y,
                                    double lambda, const OperatorRidgeOptions& options,
                                    Context& context, MatrixView<double> u);

/// By Cholesky of the observed part, with the jitter of kernel_ridge; K's lower triangle is read.
/// O((N p)^3 / 3), 8 (N p)^2 bytes.
Matrix<double> operator_kernel_ridge(MatrixView<const double> K, MatrixView<const double> Y,
                                     double lambda, Context& context);

/// The decomposable kernel k B B' by eigendecompositions of k (N x N, lower triangle read,
/// destroyed) and of B B': O(N^3 + p^3). Every target is observed. Directions in which K + N lambda
/// I is 0 but for rounding are left out.
Matrix<double> decomposable_kernel_ridge(MatrixView<double> k, const OutputBasis& basis,
                                         MatrixView<const double> Y, double lambda,
                                         Context& context);

}  // namespace mercer::solver
