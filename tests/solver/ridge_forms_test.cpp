// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One problem, four routes: eigendecomposition, Cholesky, dual, and kernel ridge on the linear
// kernel.
#include <cmath>

#include "ridge_problem.h"
#include "solver/kernel_ridge.h"
#include "solver/ridge.h"
#include "support/catch.h"

using namespace mercer;
using solver::Weights;
using test::Problem;

TEST_CASE("path, Cholesky and dual agree with the normal equations", "[solver]") {
  const int64_t n = GENERATE(2, 12, 40), D = GENERATE(1, 12, 30), m = GENERATE(0, 1, 3);
  const bool center = GENERATE(false, true);
  const double lambda = GENERATE(1e-5, 1e-1, 10.0);
  Context context;
  const Problem problem = test::ridge_problem(n, D, m, 81);
  const Weights expected = test::reference_ridge(problem, center, lambda * static_cast<double>(n));
  const solver::RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  // Condition numbers reach 1e7 (the squares of the singular values over n lambda).
  const double tolerance = 1e-8;
  CAPTURE(n, D, m, center, lambda);
  CHECK(test::weights_differ(solver::ridge_cholesky(statistics.clone(), center, lambda, context),
                             expected, tolerance) == "");
  CHECK(test::weights_differ(
            solver::ridge_dual(problem.Z.view(), problem.Y.view(), center, lambda, context),
            expected, tolerance) == "");
  CHECK(test::weights_differ(solver::RidgePath(statistics.clone(), center, context).solve(lambda),
                             expected, tolerance) == "");
}

TEST_CASE("primal residual ratios are those of a backward stable solver", "[solver]") {
  // |(G + n lambda) w - b| <= c D eps |G + n lambda| |w|, c about 1 for Cholesky; 30 in LAPACK's
  // tests. lambda down to where the matrix is singular to working precision: the residual stays
  // small when the error no longer does.
  const double lambda = GENERATE(1e-2, 1e-8, 1e-14);
  Context context;
  const int64_t n = 100, D = 60;
  const Problem problem = test::ridge_problem(n, D, 1, 82);
  const Matrix<double> Zt = test::transposed(problem.Z.view());
  const Matrix<double> G = test::product(Zt.view(), problem.Z.view());
  const Matrix<double> b = test::product(Zt.view(), problem.Y.view());
  double norm = 0;  // the trace bounds the 2-norm
  for (int64_t i = 0; i < D; ++i) {
    G(i, i) += lambda * static_cast<double>(n);
    norm += G(i, i);
  }
  const auto ratio = [&](const Weights& weights) {
    const Matrix<double> Gw = test::product(G.view(), weights.w.view());
    double residual = 0, length = 0;
    for (int64_t i = 0; i < D; ++i) {
      residual += std::pow(Gw(i, 0) - b(i, 0), 2);
      length += std::pow(weights.w(i, 0), 2);
    }
    return std::sqrt(residual / length) / (norm * static_cast<double>(D) * 2.2e-16);
  };
  const solver::RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  CHECK(ratio(solver::ridge_cholesky(statistics.clone(), false, lambda, context)) < 30);
  CHECK(ratio(solver::RidgePath(statistics.clone(), false, context).solve(lambda)) < 30);
}

TEST_CASE("kernel ridge on the linear kernel predicts as ridge does", "[solver]") {
  Context context;
  const Problem problem = test::ridge_problem(25, 6, 2, 83);
  const Matrix<double> Zt = test::transposed(problem.Z.view());
  const Matrix<double> K = test::product(problem.Z.view(), Zt.view());
  const Matrix<double> alpha = solver::kernel_ridge(K.view(), problem.Y.view(), 0.01, context);
  const Matrix<double> w = test::product(Zt.view(), alpha.view());
  CHECK(test::difference(w.view(), test::reference_ridge(problem, false, 0.25).w.view(), 1e-9) ==
        "");
}
