// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/ridge_system.h"

#include "ridge_problem.h"
#include "solver/coupled_system.h"
#include "support/catch.h"
#include "support/matrix_source.h"
#include "support/refusal.h"

namespace mercer::ridge_system_test {

using namespace solver;

constexpr double kTolerance = 1e-8;  // conditions are below 1e6
constexpr RidgeUse kUses[] = {RidgeUse::one, RidgeUse::few, RidgeUse::many, RidgeUse::criteria};

/// Residuals of all rows as a system gives them one by one.
Matrix<double> each_left_out(const RidgeSystem& system, const BlockSource& rows, double lambda,
                             Context& context) {
  Matrix<double> residuals(rows.rows(), rows.outputs());
  system.for_each_left_out(rows, {&lambda, 1}, context,
                           [&](int64_t i, const double*, double, const double* left) {
                             std::copy_n(left, rows.outputs(), residuals.view().row(i));
                           });
  return residuals;
}

TEST_CASE("whatever a system is made for, its solutions and criteria are those of Z'Z") {
  const auto [n, D] = GENERATE(std::pair(30, 5), std::pair(12, 20));  // by Z'Z and by ZZ'
  const bool center = GENERATE(false, true), coupled = GENERATE(false, true);
  const double lambda = 1e-2;
  Context context;
  const test::Problem problem = test::ridge_problem(n, D, 2, 131);
  const auto Z = MatrixView<const double>(problem.Z.view()),
             Y = MatrixView<const double>(problem.Y.view());
  const test::MatrixSource rows(Z, Y, 7, false);
  const PrimalSystem expected(test::statistics_of(Z, Y), center, context);
  const Matrix<double> left = test::left_out(expected, lambda, Z, Y, context);
  const Coupling apart = Coupling::independent(2, context);
  const RidgeProblem asked{center, coupled ? &apart : nullptr};
  for (const RidgeUse use : kUses) {
    CAPTURE(n, D, center, coupled, static_cast<int>(use));
    const auto system = make_ridge_system(rows, asked, use, lambda, context);
    const Solution found = system->solution(lambda, Want::dimension, context);
    CHECK(test::weights_differ(found.weights, expected.solve(lambda), kTolerance) == "");
    CHECK(found.effective_dimension == Approx(expected.effective_dimension(lambda)));
    if (use == RidgeUse::few) continue;
    const auto [solved, own] = test::solved_leaving_out(*system, lambda, Z, Y, context);
    CHECK(test::weights_differ(solved.weights, expected.solve(lambda), kTolerance) == "");
    CHECK(solved.effective_dimension == Approx(expected.effective_dimension(lambda)));
    CHECK(test::difference(own.view(), left.view(), kTolerance) == "");
    if (use != RidgeUse::criteria) continue;
    CHECK(system->effective_dimension(lambda) == Approx(expected.effective_dimension(lambda)));
    CHECK(test::difference(each_left_out(*system, rows, lambda, context).view(), left.view(),
                           kTolerance) == "");
    if (coupled) continue;
    for (size_t o = 0; o < 2; ++o) {
      CHECK(system->gcv(lambda)[o] == Approx(expected.gcv(lambda)[o]));
      CHECK(system->evidence(lambda)[o] == Approx(expected.evidence(lambda)[o]));
    }
  }
}

TEST_CASE("factors refuse criteria that they were not made for, and other lambdas") {
  Context context;
  const test::Problem problem = test::ridge_problem(20, 4, 1, 133);
  const test::MatrixSource rows(problem.Z.view(), problem.Y.view(), 7, false);
  const auto few = make_ridge_system(rows, {}, RidgeUse::few, 0, context);
  CHECK_REFUSED(MERCER_UNSUPPORTED, few->gcv(1), "cross-validation");
  CHECK_REFUSED(MERCER_UNSUPPORTED, few->evidence(1), "evidence");
  CHECK_REFUSED(MERCER_UNSUPPORTED, few->effective_dimension(1), "freedom");
  CHECK_REFUSED(MERCER_UNSUPPORTED, each_left_out(*few, rows, 1, context), "leave-one-out");
  const auto one = make_ridge_system(rows, {}, RidgeUse::one, 0.5, context);
  CHECK_REFUSED(MERCER_INTERNAL, one->solve(1, context), "lambda = 0.5", "1");
}

}  // namespace mercer::ridge_system_test
