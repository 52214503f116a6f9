// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact ridge with an operator-valued kernel, the reference for its features: f = sum_i K(., x_i)
// u_i minimises (1/N) sum over observed (i, k) of 1/2 (f_k(x_i) - y_ik)^2 + lambda/2 ||f||^2.
#pragma once

#include "kernel/matrix_kernel.h"
#include "solver/operator_kernel_ridge.h"

namespace mercer::model {

enum class ExactOperatorMethod { automatic, eigen, cholesky, conjugate_gradient };

struct ExactOperatorOptions {
  ExactOperatorMethod method = ExactOperatorMethod::automatic;
  double lambda = 0;
  double tolerance = 1e-10;  // of conjugate_gradient, on ExactOperatorRidge::residual
  int64_t most_iterations = 1000;
};

struct ExactOperatorRidge {
  Matrix<double> u;  // N x p, 0 where Y is NaN
  ExactOperatorMethod method = ExactOperatorMethod::automatic;  // the one taken
  int64_t iterations = 0;
  double residual = 0;      // |y - (K + N lambda I) u| / |y| over what was observed, from u
  double squared_norm = 0;  // ||f||^2 = u'K u
};

/// automatic: eigen for a decomposable kernel and
/// targets without gaps, else cholesky up to kMostCholesky observed numbers and where its 16 (N p)^2
/// bytes have room, else conjugate_gradient, whose products form no matrix. Errors: those of
/// solver::operator_kernel_ridge; UNSUPPORTED for eigen where it cannot; NOT_POSITIVE_DEFINITE for
/// a direct solution with a residual above 1e-6; NOT_CONVERGED.
inline constexpr int64_t kMostCholesky = 8192;
ExactOperatorRidge fit_exact_operator(const kernel::MatrixKernel& kernel,
                                      MatrixView<const double> X, MatrixView<const double> Y,
                                      const ExactOperatorOptions& options, Context& context);

}  // namespace mercer::model
