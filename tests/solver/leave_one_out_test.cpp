// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Residuals of rows left out, of explicit refits, of a path and of a factor.
#include "ridge_problem.h"
#include "solver/dual_system.h"
#include "solver/primal_system.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/last_progress.h"
#include "support/refusal.h"
#include "support/worst.h"

namespace leave_one_out_test {
using namespace mercer;
using solver::PrimalSystem, test::Problem;
using namespace mercer::solver;
using solver::RowStatistics;

Matrix<double> refitted(const Problem& problem, bool center, double shift) {
  const int64_t n = problem.Z.rows(), m = problem.Y.cols();
  Matrix<double> left_out(n, m);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<bool> keep(n, true);
    keep[i] = false;
    const Matrix<double> R =
        test::residuals(problem, test::reference_ridge(problem, center, shift, keep));
    for (int64_t j = 0; j < m; ++j) left_out(i, j) = R(i, j);
  }
  return left_out;
}

TEST_CASE("leave-one-out residuals are those of explicit refits") {
  const bool center = GENERATE(false, true);
  const int64_t D = GENERATE(1, 5, 30);  // 30 features: fewer rows than features
  const double lambda = GENERATE(1e-4, 1e-2, 1.0);
  Context context;
  const Problem problem = test::ridge_problem(18, D, 2, 91);
  const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), center, context);
  const Matrix<double> expected = refitted(problem, center, 18 * lambda);
  CAPTURE(center, D, lambda);
  CHECK(test::difference(
            test::left_out(path, lambda, problem.Z.view(), problem.Y.view(), context).view(),
            expected.view(), 1e-8) == "");
}

/// Of some rows of a problem, in ascending order, whose weights are none or 1, 2, 3, 1, ...
DualSystem dual_of(const Problem& problem, const std::vector<int64_t>& rows, bool weighs,
                   bool center, Context& context) {
  Matrix<double> Z(std::ssize(rows), problem.Z.cols()), Y(std::ssize(rows), problem.Y.cols());
  std::vector<double> weights;
  for (int64_t i = 0; i < Z.rows(); ++i) {
    std::copy_n(problem.Z.view().row(rows[i]), Z.cols(), Z.view().row(i));
    std::copy_n(problem.Y.view().row(rows[i]), Y.cols(), Y.view().row(i));
    if (weighs) weights.push_back(static_cast<double>(rows[i] % 3 + 1));
  }
  DualSystem system(std::move(Z), std::move(Y), std::move(weights), center, context);
  system.decompose(context);
  return system;
}

TEST_CASE("the evidence without some rows is that of the others") {
  const bool center = GENERATE(false, true), weighs = GENERATE(false, true);
  const std::vector<double> lambdas = {1e-4, 1.0};
  Context context;
  const Problem problem = test::ridge_problem(18, 30, 2, 93);
  std::vector<int64_t> all, others;
  const std::vector<int64_t> out = {0, 4, 5, 11};
  for (int64_t i = 0; i < 18; ++i) {
    all.push_back(i);
    if (!std::ranges::binary_search(out, i)) others.push_back(i);
  }
  const DualSystem whole = dual_of(problem, all, weighs, center, context);
  const DualSystem part = dual_of(problem, others, weighs, center, context);
  const std::vector<std::vector<double>> found = whole.evidence_without(lambdas, out, context);
  for (size_t k = 0; k < lambdas.size(); ++k) {
    const std::vector<double> expected =
        part.evidence(lambdas[k] * whole.weight() / part.weight());  // of the same n lambda
    CAPTURE(center, weighs, lambdas[k]);
    for (size_t o = 0; o < 2; ++o) CHECK(found[k][o] == Approx(expected[o]).epsilon(1e-9));
  }
}

// The rest of a row, 1 - H_ii, is some 1e-7 here, the intercept's part of H_ii 1/18: from a difference
// of the two three digits were left.
TEST_CASE("an intercept hides no digits of the residuals where lambda is small") {
  const bool center = GENERATE(false, true);
  Context context;
  const Problem problem{test::random_matrix(18, 30, 97), test::random_matrix(18, 1, 98)};
  const double lambda = 1e-7;
  const Matrix<double> expected = refitted(problem, center, 18 * lambda);
  DualSystem system(test::copy(problem.Z.view()), test::copy(problem.Y.view()), {}, center,
                    context);
  const auto [found, by_factor] =
      test::solved_leaving_out(system, lambda, problem.Z.view(), problem.Y.view(), context);
  system.decompose(context);
  const Matrix<double> by_path =
      test::left_out(system, lambda, problem.Z.view(), problem.Y.view(), context);
  CAPTURE(center);
  CHECK(test::difference(by_factor.view(), expected.view(), 1e-9) == "");
  CHECK(test::difference(by_path.view(), expected.view(), 1e-9) == "");
  CHECK(found.effective_dimension == Approx(system.effective_dimension(lambda)));
}

TEST_CASE("a path's residuals are those of each lambda, in blocks as at once") {
  Context context;
  const int64_t n = 2100, D = 6, m = 2;  // three blocks of rows inside
  const Problem problem = test::ridge_problem(n, D, m, 92);
  const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), true, context);
  const std::vector<double> lambdas = {1.0, 1e-3, 0.0};
  const auto part = [&](int64_t i0, int64_t i1) {
    return path.leave_one_out(
        lambdas, {i0, problem.Z.view().block_rows(i0, i1), problem.Y.view().block_rows(i0, i1), {}},
        context);
  };
  const Matrix<double> head = part(0, 1500), tail = part(1500, n);
  CHECK(part(5, 5).rows() == 0);
  double worst = 0;
  for (std::size_t l = 0; l < lambdas.size(); ++l) {
    const Matrix<double> R =
        test::left_out(path, lambdas[l], problem.Z.view(), problem.Y.view(), context);
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

TEST_CASE("an interpolating fit has infinite leave-one-out residuals, not noise") {
  Context context;
  const Problem problem{test::random_matrix(5, 12, 93), test::random_matrix(5, 1, 94)};
  const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), false, context);
  const Matrix<double> R = test::left_out(path, 0, problem.Z.view(), problem.Y.view(), context);
  for (int64_t i = 0; i < 5; ++i) CHECK(std::isinf(R(i, 0)));
}

// Rows that repeat leave the rest of a row to be told at lambda = 0, too: the dual system is
// singular, and its rounding is no direction.
TEST_CASE("lambda = 0 of rows that repeat: left-out residuals are those of the primal form") {
  Context context;
  const Matrix<double> distinct = test::random_matrix(4, 20, 95);
  const Problem problem{
      test::filled(12, 20, [&](int64_t i, int64_t j) { return distinct(i % 4, j); }),
      test::random_matrix(12, 2, 96)};
  for (const bool center : {false, true}) {
    CAPTURE(center);
    const PrimalSystem path(test::statistics_of(problem.Z.view(), problem.Y.view()), center,
                            context);
    DualSystem dual(test::copy(problem.Z.view()), test::copy(problem.Y.view()), {}, center,
                    context);
    const auto [weights, residuals] =
        test::solved_leaving_out(dual, 0, problem.Z.view(), problem.Y.view(), context);
    CHECK(test::difference(
              residuals.view(),
              test::left_out(path, 0, problem.Z.view(), problem.Y.view(), context).view(),
              1e-9) == "");
    CHECK(dual.effective_dimension(0) == Approx(4));
  }
}

TEST_CASE("left-out residuals of a factor are those of a decomposition") {
  Context context;
  const int64_t n = 40;
  const Matrix<double> Y = test::random_matrix(n, 2, 2);
  std::vector<double> some;
  for (int64_t i = 0; i < n; ++i) some.push_back(0.5 + static_cast<double>(i % 3));
  for (const bool center : {false, true})
    for (const std::vector<double>& weights : {std::vector<double>(), some})
      for (const int64_t D : {7, 60}) {
        CAPTURE(center, weights.size(), D);
        const Matrix<double> Z = test::random_matrix(n, D, 1);
        const double lambda = 1e-2;
        RowStatistics statistics(D, 2);
        statistics.add(Z.view(), Y.view(), context, weights);
        const PrimalSystem path(statistics.clone(context), center, context);
        const RidgeFactor factor(std::move(statistics), center, lambda, context);
        const Weights own = factor.weights(context);
        const Matrix<double> expected =
            test::left_out(path, lambda, Z.view(), Y.view(), context, weights);
        const Matrix<double> primal =
            factor.leave_one_out(own, {0, Z.view(), Y.view(), weights}, context);
        DualSystem dual(test::copy(Z.view()), test::copy(Y.view()), weights, center, context);
        const auto [by_dual, residuals] =
            test::solved_leaving_out(dual, lambda, Z.view(), Y.view(), context);
        double worst = 0, apart = 0;
        for (int64_t k = 0; k < n * 2; ++k) {
          test::keep_worst(worst, std::fabs(primal.data()[k] - expected.data()[k]));
          test::keep_worst(worst, std::fabs(residuals.data()[k] - expected.data()[k]));
        }
        for (int64_t k = 0; k < D * 2; ++k)
          test::keep_worst(apart, std::fabs(own.w.data()[k] - by_dual.weights.w.data()[k]));
        // Conditions are below 1e4.
        CHECK(worst <= 1e-9);
        CHECK(apart <= 1e-9);
        CHECK(by_dual.effective_dimension ==
              Approx(path.effective_dimension(lambda)).epsilon(1e-9));
      }
}

}  // namespace leave_one_out_test
