// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The path against explicitly solved normal equations, its criteria against their definitions, and
// its limits.
#include "ridge_problem.h"
#include "support/catch.h"

using namespace mercer;
using solver::RidgePath, solver::RowStatistics, solver::Weights;
using test::Problem;

namespace {

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

}  // namespace

TEST_CASE("solutions and criteria are those of the explicit normal equations", "[solver]") {
  const int64_t n = GENERATE(15, 40), D = GENERATE(1, 7, 24), m = GENERATE(1, 3);
  const bool center = GENERATE(false, true);
  const double lambda = GENERATE(1e-6, 1e-3, 1.0, 1e6);
  Context context;
  const Problem problem = test::ridge_problem(n, D, m, 21);
  const double shift = lambda * static_cast<double>(n);
  const RidgePath path(test::statistics_of(problem.Z.view(), problem.Y.view()), center, context);
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

TEST_CASE("lambda = 0 is least squares, or the minimum-norm interpolant", "[solver]") {
  const bool center = GENERATE(false, true);
  Context context;
  const Problem tall = test::ridge_problem(30, 8, 2, 31);
  const RidgePath full(test::statistics_of(tall.Z.view(), tall.Y.view()), center, context);
  CHECK(test::weights_differ(full.solve(0), test::reference_ridge(tall, center, 0), kTolerance) ==
        "");

  // Wide and well conditioned: w = Z'(ZZ')^{-1} y after centring is the limit of the ridge as
  // lambda -> 0.
  const Problem wide{test::random_matrix(6, 20, 32), test::random_matrix(6, 2, 33)};
  const RidgePath path(test::statistics_of(wide.Z.view(), wide.Y.view()), center, context);
  const Weights minimum = path.solve(0);
  const Matrix<double> R = test::residuals(wide, minimum);
  CHECK(test::largest(R.view()) < 1e-12);
  CHECK(test::weights_differ(minimum, test::reference_ridge(wide, center, 1e-8), 1e-7) == "");
  CHECK(path.effective_dimension(0) == Approx(6).epsilon(1e-12));
  CHECK(std::isinf(path.gcv(0)[0]));
}

TEST_CASE("duplicate and constant columns are null directions", "[solver]") {
  const bool center = GENERATE(false, true);
  Context context;
  Problem problem = test::ridge_problem(50, 6, 1, 41);
  for (int64_t i = 0; i < 50; ++i) {
    problem.Z(i, 4) = problem.Z(i, 0);
    problem.Z(i, 5) = center ? 3.0 : 0.0;
  }
  const RidgePath path(test::statistics_of(problem.Z.view(), problem.Y.view()), center, context);
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

TEST_CASE("a single row, no outputs and all-zero features are served", "[solver]") {
  Context context;
  const Problem row = test::ridge_problem(1, 3, 2, 51);
  const RidgePath of_row(test::statistics_of(row.Z.view(), row.Y.view()), true, context);
  const Weights constant = of_row.solve(0.1);
  CHECK(test::largest(constant.w.view()) == 0);
  CHECK(constant.intercept[1] == row.Y(0, 1));
  CHECK(std::isinf(of_row.gcv(0.1)[0]));

  const Problem none = test::ridge_problem(10, 3, 0, 52);
  const RidgePath without(test::statistics_of(none.Z.view(), none.Y.view()), true, context);
  CHECK(without.solve(0.1).w.cols() == 0);
  CHECK(without.gcv(0.1).empty());
  CHECK(without.leave_one_out(0.1, none.Z.view(), none.Y.view(), context).cols() == 0);
  CHECK(without.effective_dimension(0.1) > 1);

  Problem zero = test::ridge_problem(10, 3, 1, 53);
  zero.Z.fill(0);
  const RidgePath flat(test::statistics_of(zero.Z.view(), zero.Y.view()), false, context);
  CHECK(flat.solve(0).w(1, 0) == 0);
  CHECK(flat.effective_dimension(0) == 0);
}

TEST_CASE("the training error by statistics is the residual sum of squares of gcv", "[solver]") {
  Context context;
  const Problem problem = test::ridge_problem(80, 10, 2, 61);
  const RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  const RidgePath path(statistics.clone(), true, context);
  for (const double lambda : solver::lambda_grid(1, 1e-8, 5)) {
    const std::vector<double> error = path.held_out_error(lambda, statistics);
    const double degrees = 80 - path.effective_dimension(lambda);
    CHECK(path.gcv(lambda)[1] == Approx(6400 * error[1] / (degrees * degrees)).epsilon(1e-9));
  }
}

TEST_CASE("a lambda grid is geometric with exact ends", "[solver]") {
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

TEST_CASE("the memory cap holds for the path", "[solver]") {
  const Problem problem = test::ridge_problem(80, 64, 1, 71);
  RowStatistics statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
  Context context;
  context.memory_cap = 8 * 64 * 64 - 1;
  CHECK_THROWS_AS(RidgePath(statistics.clone(), true, context), Error);
  context.memory_cap = 16 * 64 * 64;
  const RidgePath path(std::move(statistics), true, context);
  CHECK(path.features() == 64);
  CHECK(path.outputs() == 1);
  CHECK(path.rows() == 80);
}
