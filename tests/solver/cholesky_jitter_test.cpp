// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Escalation of jitter: a semidefinite matrix is solved, an indefinite one refused with its pivot.
#include <cmath>
#include <limits>

#include "ridge_problem.h"
#include "solver/jittered_cholesky.h"
#include "solver/kernel_ridge.h"
#include "solver/ridge.h"
#include "support/catch.h"
#include "support/refusal.h"

using namespace mercer;
using test::Problem;

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
  CHECK(test::refusal_fault(
            MERCER_NOT_POSITIVE_DEFINITE,
            [&] { solver::kernel_ridge(K.view(), Y.view(), 1e-3, context); },
            "pivot 25 of 40") == "");
}

TEST_CASE("NaN statistics are refused, they do not end in NaN weights", "[solver]") {
  Context context;
  Problem problem = test::ridge_problem(20, 4, 1, 113);
  problem.Z(3, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK(test::refusal_fault(
            MERCER_INVALID_ARGUMENT,
            [&] {
              solver::ridge_cholesky(test::statistics_of(problem.Z.view(), problem.Y.view()), false,
                                     1e-3, context);
            },
            "not finite") == "");
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
