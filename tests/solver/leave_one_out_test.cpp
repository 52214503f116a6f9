// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The closed form against refits without the row, n lambda kept.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ridge_problem.h"
#include "solver/ridge.h"
#include "support/catch.h"

using namespace mercer;
using solver::RidgePath;
using test::Problem;

namespace {

Matrix<double> refitted(const Problem& problem, bool center, double shift) {
  const int64_t n = problem.Z.rows(), m = problem.Y.cols();
  Matrix<double> left_out(n, m);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<bool> keep(static_cast<std::size_t>(n), true);
    keep[static_cast<std::size_t>(i)] = false;
    const Matrix<double> R =
        test::residuals(problem, test::reference_ridge(problem, center, shift, keep));
    for (int64_t j = 0; j < m; ++j) left_out(i, j) = R(i, j);
  }
  return left_out;
}

}  // namespace

TEST_CASE("leave-one-out residuals are those of explicit refits", "[solver]") {
  const bool center = GENERATE(false, true);
  const int64_t D = GENERATE(1, 5, 30);  // 30 features: fewer rows than features
  const double lambda = GENERATE(1e-4, 1e-2, 1.0);
  Context context;
  const Problem problem = test::ridge_problem(18, D, 2, 91);
  const RidgePath path(test::statistics_of(problem.Z.view(), problem.Y.view()), center, context);
  const Matrix<double> expected = refitted(problem, center, 18 * lambda);
  CAPTURE(center, D, lambda);
  CHECK(test::difference(
            path.leave_one_out(lambda, problem.Z.view(), problem.Y.view(), context).view(),
            expected.view(), 1e-8) == "");
}

TEST_CASE("a path's residuals are those of each lambda, in blocks as at once", "[solver]") {
  Context context;
  const int64_t n = 2100, D = 6, m = 2;  // three blocks of rows inside
  const Problem problem = test::ridge_problem(n, D, m, 92);
  const RidgePath path(test::statistics_of(problem.Z.view(), problem.Y.view()), true, context);
  const std::vector<double> lambdas = {1.0, 1e-3, 0.0};
  const auto part = [&](int64_t i0, int64_t i1) {
    return path.leave_one_out(lambdas, problem.Z.view().block_rows(i0, i1),
                              problem.Y.view().block_rows(i0, i1), context);
  };
  const Matrix<double> head = part(0, 1500), tail = part(1500, n);
  CHECK(part(5, 5).rows() == 0);
  double worst = 0;
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    const Matrix<double> R =
        path.leave_one_out(lambdas[l], problem.Z.view(), problem.Y.view(), context);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        const int64_t column = static_cast<int64_t>(l) * m + j;
        const double found = i < 1500 ? head(i, column) : tail(i - 1500, column);
        worst = std::max(worst, std::abs(found - R(i, j)));
      }
    }
  }
  CHECK(worst < 1e-12);
}

TEST_CASE("an interpolating fit has infinite leave-one-out residuals, not noise", "[solver]") {
  Context context;
  const Problem problem{test::random_matrix(5, 12, 93), test::random_matrix(5, 1, 94)};
  const RidgePath path(test::statistics_of(problem.Z.view(), problem.Y.view()), false, context);
  const Matrix<double> R = path.leave_one_out(0, problem.Z.view(), problem.Y.view(), context);
  for (int64_t i = 0; i < 5; ++i) CHECK(std::isinf(R(i, 0)));
}
