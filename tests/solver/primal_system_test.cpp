// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge against a reference in long double: paths, their criteria, other forms, jitter.
#include "solver/primal_system.h"

#include "linalg/blas.h"
#include "ridge_problem.h"
#include "solver/dual_system.h"
#include "support/catch.h"
#include "support/refusal.h"

namespace primal_system_test {
using namespace mercer;

using solver::PrimalSystem, solver::RowStatistics, solver::Weights;
using test::Problem;

// The problems' condition numbers are below 1e7 at these lambdas, so errors of eps x 1e7 x size are
// below 1e-7.
constexpr double kTolerance = 1e-7;

double column_squares(const Matrix<double>& R, int64_t j) {
  double sum = 0;
  for (int64_t i = 0; i < R.rows(); ++i) sum += R(i, j) * R(i, j);
  return sum;
}

/// Tr H by the definition: y -> fitted is linear, so H's diagonal is the fit of unit vectors.
double reference_trace(const Problem& problem, bool center, double shift) {
  const int64_t n = problem.Z.rows();
  Problem unit{test::copy(problem.Z.view()), Matrix<double>(n, n)};
  unit.Y.fill(0);
  for (int64_t i = 0; i < n; ++i) unit.Y(i, i) = 1;
  const Matrix<double> R = test::residuals(unit, test::reference_ridge(unit, center, shift));
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) trace += 1 - R(i, i);
  return trace;
}

TEST_CASE("solutions and criteria are those of the explicit normal equations") {
  const int64_t n = GENERATE(15, 40), D = GENERATE(1, 7, 24), m = GENERATE(1, 3);
  const bool center = GENERATE(false, true);
  const double lambda = GENERATE(1e-6, 1e-3, 1.0, 1e6);
  Context context;
  const Problem problem = test::ridge_problem(n, D, m, 21);
  const double shift = lambda * static_cast<double>(n);
  const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), center, context);
  const Weights expected = test::reference_ridge(problem, center, shift);
  CAPTURE(n, D, m, center, lambda);
  CHECK(test::weights_differ(path.solve(lambda), expected, kTolerance) == "");

  const double trace = reference_trace(problem, center, shift);
  CHECK(path.effective_dimension(lambda) == Approx(trace).epsilon(kTolerance));
  const Matrix<double> R = test::residuals(problem, expected);
  const std::vector<double> gcv = path.gcv(lambda);
  const Problem fresh = test::ridge_problem(9, D, m, 99);
  const std::vector<double> error =
      path.held_out_error(lambda, test::statistics_of(fresh.Z.view(), fresh.Y.view()));
  const Matrix<double> fresh_residuals = test::residuals(fresh, expected);
  const auto size = static_cast<double>(n);
  for (int64_t j = 0; j < m; ++j) {
    const auto output = static_cast<std::size_t>(j);
    CHECK(error[output] == Approx(column_squares(fresh_residuals, j) / 9).epsilon(kTolerance));
    // With n <= D both RSS and n - Tr H vanish as lambda does: three digits are left at 1e-6.
    CHECK(gcv[output] == Approx(size * column_squares(R, j) / std::pow(size - trace, 2))
                             .epsilon(n <= D && lambda < 1e-4 ? 1e-3 : kTolerance));
  }
}

TEST_CASE("lambda = 0 is least squares, or the minimum-norm interpolant") {
  const bool center = GENERATE(false, true);
  Context context;
  const Problem tall = test::ridge_problem(30, 8, 2, 31);
  const PrimalSystem full(test::statistics_of(tall.Z.view(), tall.Y.view()), center, context);
  CHECK(test::weights_differ(full.solve(0), test::reference_ridge(tall, center, 0), kTolerance) ==
        "");

  // Wide and well conditioned: w = Z'(ZZ')^{-1} y after centring is the limit of the ridge as
  // lambda -> 0.
  const Problem wide{test::random_matrix(6, 20, 32), test::random_matrix(6, 2, 33)};
  const PrimalSystem path(test::statistics_of(wide.Z.view(), wide.Y.view()), center, context);
  const Weights minimum = path.solve(0);
  const Matrix<double> R = test::residuals(wide, minimum);
  CHECK(test::largest(R.view()) < 1e-12);
  CHECK(test::weights_differ(minimum, test::reference_ridge(wide, center, 1e-8), 1e-7) == "");
  CHECK(path.effective_dimension(0) == Approx(6).epsilon(1e-12));
  CHECK(std::isinf(path.gcv(0)[0]));
}

TEST_CASE("duplicate and constant columns are null directions") {
  const bool center = GENERATE(false, true);
  Context context;
  Problem problem = test::ridge_problem(50, 6, 1, 41);
  for (int64_t i = 0; i < 50; ++i) {
    problem.Z(i, 4) = problem.Z(i, 0);
    problem.Z(i, 5) = center ? 3.0 : 0.0;
  }
  const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), center, context);
  const Weights weights = path.solve(0);
  CHECK(weights.w(4, 0) == Approx(weights.w(0, 0)).epsilon(1e-8));
  CHECK(std::abs(weights.w(5, 0)) < 1e-8);
  CHECK(path.effective_dimension(0) == Approx(center ? 5 : 4).epsilon(1e-9));
  CHECK(path.eigenvalues().front() >= 0);
  CHECK(std::is_sorted(path.eigenvalues().begin(), path.eigenvalues().end()));
  const Matrix<double> R = test::residuals(problem, weights),
                       Zt = test::transposed(problem.Z.view());
  const Matrix<double> gradient = test::product(Zt.view(), R.view());
  CHECK(test::largest(gradient.view()) < 1e-10);
}

TEST_CASE("a single row, no outputs and all-zero features are served") {
  Context context;
  const Problem row = test::ridge_problem(1, 3, 2, 51);
  const PrimalSystem of_row(test::statistics_of(row.Z.view(), row.Y.view()), true, context);
  const Weights constant = of_row.solve(0.1);
  CHECK(test::largest(constant.w.view()) == 0);
  CHECK(constant.intercept[1] == row.Y(0, 1));
  CHECK(std::isinf(of_row.gcv(0.1)[0]));

  const Problem none = test::ridge_problem(10, 3, 0, 52);
  const PrimalSystem without(test::statistics_of(none.Z.view(), none.Y.view()), true, context);
  CHECK(without.solve(0.1).w.cols() == 0);
  CHECK(without.gcv(0.1).empty());
  CHECK(test::left_out(without, 0.1, none.Z.view(), none.Y.view(), context).cols() == 0);
  CHECK(without.effective_dimension(0.1) > 1);

  Problem zero = test::ridge_problem(10, 3, 1, 53);
  zero.Z.fill(0);
  const PrimalSystem flat(test::statistics_of(zero.Z.view(), zero.Y.view()), false, context);
  CHECK(flat.solve(0).w(1, 0) == 0);
  CHECK(flat.effective_dimension(0) == 0);
}

TEST_CASE("the training error by statistics is the residual sum of squares of gcv") {
  Context context;
  const Problem problem = test::ridge_problem(80, 10, 2, 61);
  const RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  const PrimalSystem path(statistics.clone(context), true, context);
  for (const double lambda : solver::lambda_grid(1, 1e-8, 5)) {
    const std::vector<double> error = path.held_out_error(lambda, statistics);
    const double degrees = 80 - path.effective_dimension(lambda);
    CHECK(path.gcv(lambda)[1] == Approx(6400 * error[1] / (degrees * degrees)).epsilon(1e-9));
  }
}

TEST_CASE("leverage scores are those of each feature in the rows' system, and sum to Tr H") {
  const int64_t n = GENERATE(15, 40), D = GENERATE(1, 24);
  const bool center = GENERATE(false, true);
  Context context;
  const Problem problem = test::ridge_problem(n, D, 1, 22);
  const double lambda = 0.01, shift = lambda * static_cast<double>(n);
  const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), center, context);
  const std::vector<double> scores = path.leverage(lambda);
  Matrix<double> Z = test::copy(problem.Z.view());
  for (int64_t j = 0; j < D && center; ++j) {
    double mean = 0;
    for (int64_t i = 0; i < n; ++i) mean += Z(i, j) / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) Z(i, j) -= mean;
  }
  Matrix<double> K = test::product(Z.view(), test::transposed(Z.view()).view());
  for (int64_t i = 0; i < n; ++i) K(i, i) += shift;
  Matrix<double> solved = test::copy(Z.view());
  linalg::cholesky(K.view());
  linalg::cholesky_solve(K.view(), solved.view());
  double sum = center ? 1 : 0;
  for (int64_t j = 0; j < D; ++j) {
    double expected = 0;
    for (int64_t i = 0; i < n; ++i) expected += Z(i, j) * solved(i, j);
    CHECK(scores[j] == Approx(expected).epsilon(1e-9).margin(1e-11));
    sum += expected;
  }
  CHECK(path.effective_dimension(lambda) == Approx(sum).epsilon(1e-9));
}

TEST_CASE("a lambda grid is geometric with exact ends") {
  const std::vector<double> grid = solver::lambda_grid(0.1, 1e-12, 23);
  REQUIRE(grid.size() == 23);
  CHECK(grid.front() == 0.1);
  CHECK(grid.back() == 1e-12);
  double worst = 0;
  for (std::size_t i = 1; i < grid.size(); ++i)
    worst = std::max(worst, std::abs(grid[i] / grid[i - 1] / std::pow(1e-11, 1.0 / 22) - 1));
  CHECK(worst < 1e-13);
  CHECK(solver::lambda_grid(2, 1, 1) == std::vector<double>{2});
  CHECK(solver::lambda_grid(2, 2, 3) == std::vector<double>{2, 2, 2});
}

TEST_CASE("the memory cap holds for the path") {
  const Problem problem = test::ridge_problem(80, 64, 1, 71);
  RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  Context context;
  context.memory_cap = 8 * 64 * 64 - 1;
  CHECK_THROWS_AS(PrimalSystem(statistics.clone(context), true, context), Error);
  context.memory_cap = 16 * 64 * 64;
  const PrimalSystem path(std::move(statistics), true, context);
  CHECK(path.features() == 64);
  CHECK(path.outputs() == 1);
  CHECK(path.rows() == 80);
}

using solver::Weights, test::Problem;

TEST_CASE("path, Cholesky and dual agree with the normal equations") {
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
  CHECK(test::weights_differ(
            solver::ridge_cholesky(statistics.clone(context), center, lambda, context), expected,
            tolerance) == "");
  CHECK(test::weights_differ(
            solver::ridge_dual(problem.Z.view(), problem.Y.view(), center, lambda, context),
            expected, tolerance) == "");
  CHECK(test::weights_differ(
            solver::PrimalSystem(statistics.clone(context), center, context).solve(lambda),
            expected, tolerance) == "");
}

TEST_CASE("primal residual ratios are those of a backward stable solver") {
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
  CHECK(ratio(solver::ridge_cholesky(statistics.clone(context), false, lambda, context)) < 30);
  CHECK(ratio(solver::PrimalSystem(statistics.clone(context), false, context).solve(lambda)) < 30);
}

TEST_CASE("kernel ridge on the linear kernel predicts as ridge does") {
  Context context;
  const Problem problem = test::ridge_problem(25, 6, 2, 83);
  const Matrix<double> Zt = test::transposed(problem.Z.view());
  const Matrix<double> K = test::product(problem.Z.view(), Zt.view());
  const Matrix<double> alpha = solver::kernel_ridge(K.view(), problem.Y.view(), 0.01, 25, context);
  const Matrix<double> w = test::product(Zt.view(), alpha.view());
  CHECK(test::difference(w.view(), test::reference_ridge(problem, false, 0.25).w.view(), 1e-9) ==
        "");
}

/// B B' of the given rank, mean diagonal about rank/3.
Matrix<double> semidefinite(int64_t n, int64_t rank) {
  const Matrix<double> B = test::random_matrix(n, rank, 111), Bt = test::transposed(B.view());
  return test::product(B.view(), Bt.view());
}

TEST_CASE("a factor that needs no jitter gets none") {
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

TEST_CASE("jitter restores the matrix between attempts and stays below its limit") {
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

TEST_CASE("an indefinite matrix is refused with the pivot") {
  Context context;
  const Matrix<double> K = semidefinite(40, 80);
  K(24, 24) = -5;
  const Matrix<double> Y = test::random_matrix(40, 1, 112);
  CHECK_REFUSED(MERCER_NOT_POSITIVE_DEFINITE,
                solver::kernel_ridge(K.view(), Y.view(), 1e-3, 40, context), "pivot 25 of 40");
}

TEST_CASE("NaN statistics are refused, they do not end in NaN weights") {
  Context context;
  Problem problem = test::ridge_problem(20, 4, 1, 113);
  problem.Z(3, 2) = std::numeric_limits<double>::quiet_NaN();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                solver::ridge_cholesky(test::statistics_of(problem.Z.view(), problem.Y.view()),
                                       false, 1e-3, context),
                "not finite");
}

TEST_CASE("lambda = 0 on rank-deficient features still fits") {
  const bool center = GENERATE(false, true);
  Context context;
  Problem problem = test::ridge_problem(30, 5, 1, 114);
  for (int64_t i = 0; i < 30; ++i) problem.Z(i, 4) = problem.Z(i, 1) - problem.Z(i, 2);
  const solver::RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  const std::vector<double> exact = solver::mean_squared_error(
      solver::PrimalSystem(statistics.clone(context), center, context).solve(0), statistics);
  const solver::Weights direct =
      solver::ridge_cholesky(statistics.clone(context), center, 0, context);
  CHECK(solver::mean_squared_error(direct, statistics)[0] == Approx(exact[0]).epsilon(1e-6));
  const solver::Weights dual =
      solver::ridge_dual(problem.Z.view(), problem.Y.view(), center, 0, context);
  CHECK(solver::mean_squared_error(dual, statistics)[0] == Approx(exact[0]).epsilon(1e-6));
}

}  // namespace primal_system_test
