// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Every documented refusal, its status and the numbers its message must name.
#include "ridge_problem.h"
#include "solver/dual_system.h"
#include "support/refusal.h"

namespace solver_errors_test {
using namespace mercer;
using solver::PrimalSystem, solver::RowStatistics, test::Problem, test::random_matrix,
    test::refusal_fault;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST_CASE("statistics refuse wrong sizes and too many removals") {
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, RowStatistics(0, 1), "features = 0");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, RowStatistics(-3, 1), "features = -3");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, RowStatistics(3, -1), "outputs = -1");
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, RowStatistics(int64_t{1} << 40, 1));

  RowStatistics statistics(4, 2);
  const Matrix<double> Z = random_matrix(5, 4, 1), wide = random_matrix(5, 6, 1);
  const Matrix<double> Y = random_matrix(5, 2, 2), short_y = random_matrix(4, 2, 2);
  const MatrixView<const double> z = Z.view(), w = wide.view(), y = Y.view(), s = short_y.view();
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, statistics.add(w, y, context), "Z.d = 6", "4");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, statistics.add(z, w, context), "Y.d = 6", "2");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, statistics.add(z, s, context), "Y.n = 4", "5");
  statistics.add(z.block_rows(0, 4), s, context);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, statistics.remove(z, y, context), "remove: 5 rows",
                "only 4");
  RowStatistics more(4, 2);
  more.add(z, y, context);
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, statistics.subtract(more), "5 rows", "only 4");
  const RowStatistics other(4, 3), another(5, 2);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, statistics.merge(other), "4 features and 3 outputs",
                "4 and 2");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, statistics.subtract(another), "5 features");
  CHECK(statistics.rows() == 4);

  const Matrix<float> narrow = random_matrix<float>(5, 4, 1);
  context.memory_cap = 100;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY,
                statistics.add(MatrixView<const float>(narrow.view()), y, context),
                "memory_cap = 100");
  CHECK(statistics.rows() == 4);
}

TEST_CASE("a path refuses bad lambdas, sizes and empty statistics") {
  Context context;
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, PrimalSystem(RowStatistics(3, 1), true, context),
                "0 rows");
  const Problem problem = test::ridge_problem(10, 3, 1, 121);
  const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), true, context);
  for (const double lambda : {-1e-9, kNan, kInf, 1e308}) {
    const auto refused = [&](auto call) {
      return refusal_fault(MERCER_INVALID_ARGUMENT, call, "lambda = ");
    };
    CHECK(refused([&] { path.solve(lambda); }) == "");
    CHECK(refused([&] { path.gcv(lambda); }) == "");
    CHECK(refused([&] { path.effective_dimension(lambda); }) == "");
    CHECK(refused([&] {
            test::left_out(path, lambda, problem.Z.view(), problem.Y.view(), context);
          }) == "");
    CHECK(refused([&] {
            path.held_out_error(lambda, test::statistics_of(problem.Z.view(), problem.Y.view()));
          }) == "");
  }
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, path.held_out_error(1, RowStatistics(3, 1)), "0 rows");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, path.held_out_error(1, RowStatistics(4, 1)), "3 x 1",
                "4 features");
  const Matrix<double> wide = random_matrix(10, 4, 1);
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                test::left_out(path, 1, wide.view(), problem.Y.view(), context), "Z.d = 4", "3");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                test::left_out(path, 1, problem.Z.view(), wide.view(), context), "Y is 10 x 4");
  Problem poisoned = test::ridge_problem(10, 3, 1, 122);
  poisoned.Z(4, 1) = kNan;
  CHECK_REFUSED(
      MERCER_INVALID_ARGUMENT,
      PrimalSystem(test::statistics_of(poisoned.Z.view(), poisoned.Y.view()), false, context),
      "finite");
}

TEST_CASE("the other solvers refuse bad lambdas and sizes") {
  Context context;
  const Problem problem = test::ridge_problem(10, 3, 1, 123);
  const Matrix<double> short_y = random_matrix(9, 1, 1), K = random_matrix(10, 10, 1);
  const MatrixView<const double> Z = problem.Z.view(), Y = problem.Y.view();
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                solver::ridge_cholesky(test::statistics_of(Z, Y), true, -2, context),
                "lambda = -2");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                solver::ridge_cholesky(RowStatistics(3, 1), true, 1, context), "0 rows");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, solver::ridge_dual(Z, Y, true, kNan, context),
                "lambda = nan");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT,
                solver::ridge_dual(Z.block_rows(0, 0), Y.block_rows(0, 0), true, 1, context),
                "0 rows");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH, solver::ridge_dual(Z, short_y.view(), true, 1, context),
                "Y.n = 9", "10");
  CHECK_REFUSED(MERCER_DIMENSION_MISMATCH,
                solver::kernel_ridge(K.view(), short_y.view(), 1, 10, context), "Y has 9 rows");
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, solver::kernel_ridge(K.view(), Y, -1, 10, context),
                "lambda = -1");
  context.memory_cap = 799;
  CHECK_REFUSED(MERCER_OUT_OF_MEMORY, solver::ridge_dual(Z, Y, true, 1, context),
                "memory_cap = 799", "800");
}

TEST_CASE("grids refuse what makes no sense") {
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, solver::lambda_grid(1, 0.1, 0), "count = 0");
  for (const auto& [largest, smallest] :
       {std::pair{1.0, 2.0}, {1.0, 0.0}, {1.0, -1.0}, {kInf, 1.0}, {kNan, 1.0}, {1.0, kNan}})
    CHECK_REFUSED(MERCER_INVALID_ARGUMENT, solver::lambda_grid(largest, smallest, 3),
                  "largest >= smallest > 0");
}

}  // namespace solver_errors_test
