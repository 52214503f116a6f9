// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Forms of ridge agree; a Cholesky factor takes no more jitter than it needs.
#include "ridge_problem.h"
#include "solver/jittered_cholesky.h"
#include "solver/kernel_ridge.h"
#include "support/catch.h"
#include "support/refusal.h"

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

namespace {

/// B B' of the given rank, mean diagonal about rank/3.
Matrix<double> semidefinite(int64_t n, int64_t rank) {
  const Matrix<double> B = test::random_matrix(n, rank, 111), Bt = test::transposed(B.view());
  return test::product(B.view(), Bt.view());
}

}  // namespace

TEST_CASE("a factor that needs no jitter gets none", "[solver]") {
  Context context;
  const int64_t n = 150;
  const Matrix<double> A = semidefinite(n, 2 * n);
  const Matrix<double> L = test::copy(A.view());
  solver::jittered_cholesky(L.view(), context);
  double worst = 0, mean = 0;
  for (int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (int64_t k = 0; k <= i; ++k) sum += L(i, k) * L(i, k);
    worst = std::max(worst, std::abs(sum - A(i, i)));
    mean += A(i, i) / static_cast<double>(n);
  }
  CHECK(worst < 1e-13 * mean);
}

TEST_CASE("jitter restores the matrix between attempts and stays below its limit", "[solver]") {
  Context context;
  const int64_t n = GENERATE(3, 64, 130);
  const Matrix<double> A = semidefinite(n, n / 3 + 1);
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) mean += A(i, i) / static_cast<double>(n);
  // Just indefinite: rounding alone might let a singular matrix pass.
  for (int64_t i = 0; i < n; ++i) A(i, i) -= 3e-12 * mean;
  const Matrix<double> L = test::copy(A.view());
  solver::jittered_cholesky(L.view(), context);
  double off_diagonal = 0, least = 1, most = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (int64_t k = 0; k <= j; ++k) sum += L(i, k) * L(j, k);
      const double added = sum - A(i, j);
      if (i == j) {
        least = std::min(least, added / mean);
        most = std::max(most, added / mean);
      } else {
        off_diagonal = std::max(off_diagonal, std::abs(added) / mean);
      }
    }
  }
  CHECK(off_diagonal < 1e-13);
  CHECK(least > 0.9e-12);  // the attempt before 1e-11 cannot do, up to rounding
  CHECK(most < 1.1e-9);
}

TEST_CASE("an indefinite matrix is refused with the pivot", "[solver]") {
  Context context;
  const Matrix<double> K = semidefinite(40, 80);
  K(24, 24) = -5;
  const Matrix<double> Y = test::random_matrix(40, 1, 112);
  CHECK_REFUSED(MERCER_NOT_POSITIVE_DEFINITE,
                solver::kernel_ridge(K.view(), Y.view(), 1e-3, context), "pivot 25 of 40");
}

TEST_CASE("NaN statistics are refused, they do not end in NaN weights", "[solver]") {
  Context context;
  Problem problem = test::ridge_problem(20, 4, 1, 113);
  problem.Z(3, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                solver::ridge_cholesky(test::statistics_of(problem.Z.view(), problem.Y.view()),
                                       false, 1e-3, context),
                "not finite");
}

TEST_CASE("lambda = 0 on rank-deficient features still fits", "[solver]") {
  const bool center = GENERATE(false, true);
  Context context;
  Problem problem = test::ridge_problem(30, 5, 1, 114);
  for (int64_t i = 0; i < 30; ++i) problem.Z(i, 4) = problem.Z(i, 1) - problem.Z(i, 2);
  const solver::RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  const std::vector<double> exact = solver::mean_squared_error(
      solver::RidgePath(statistics.clone(), center, context).solve(0), statistics);
  const solver::Weights direct = solver::ridge_cholesky(statistics.clone(), center, 0, context);
  CHECK(solver::mean_squared_error(direct, statistics)[0] == Approx(exact[0]).epsilon(1e-6));
  const solver::Weights dual =
      solver::ridge_dual(problem.Z.view(), problem.Y.view(), center, 0, context);
  CHECK(solver::mean_squared_error(dual, statistics)[0] == Approx(exact[0]).epsilon(1e-6));
}
