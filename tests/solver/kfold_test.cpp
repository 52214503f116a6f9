// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// K-fold error from statistics against fits on explicitly chosen rows.
#include "ridge_problem.h"
#include "support/last_progress.h"
#include "support/refusal.h"

using namespace mercer;
using solver::RowStatistics;
using test::Problem;

namespace {

/// Rows i with i mod folds == fold are held out; the last fold is the shorter one.
double explicit_error(const Problem& problem, bool center, double lambda, int64_t folds,
                      int64_t j) {
  const int64_t n = problem.Z.rows();
  double squares = 0;
  for (int64_t fold = 0; fold < folds; ++fold) {
    std::vector<bool> keep(static_cast<std::size_t>(n));
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      keep[static_cast<std::size_t>(i)] = i % folds != fold;
      kept += i % folds != fold;
    }
    const Matrix<double> R = test::residuals(
        problem, test::reference_ridge(problem, center, lambda * static_cast<double>(kept), keep));
    for (int64_t i = fold; i < n; i += folds) squares += R(i, j) * R(i, j);
  }
  return squares / static_cast<double>(n);
}

}  // namespace

TEST_CASE("K-fold errors are those of explicit fits with their own n", "[solver]") {
  const bool center = GENERATE(false, true);
  const int64_t K = GENERATE(2, 3, 7), n = 23, D = 5, m = 2;
  Context context;
  const Problem problem = test::ridge_problem(n, D, m, 101);
  std::vector<RowStatistics> folds;
  for (int64_t fold = 0; fold < K; ++fold) folds.emplace_back(D, m);
  for (int64_t i = 0; i < n; ++i)
    folds[static_cast<std::size_t>(i % K)].add(
        MatrixView<const double>(problem.Z.view().block_rows(i, i + 1)),
        problem.Y.view().block_rows(i, i + 1), context);
  folds.emplace_back(D, m);  // a fold without rows counts for nothing
  const std::vector<double> lambdas = {1.0, 1e-3};
  const Matrix<double> error = solver::kfold_error(folds, center, lambdas, context);
  REQUIRE(error.rows() == 2);
  for (int64_t l = 0; l < 2; ++l)
    for (int64_t j = 0; j < m; ++j)
      CHECK(error(l, j) ==
            Approx(explicit_error(problem, center, lambdas[static_cast<std::size_t>(l)], K, j))
                .epsilon(1e-9));
}

TEST_CASE("K-fold errors of weighted rows are those of repeated rows", "[solver]") {
  const bool center = GENERATE(false, true);
  const int64_t K = 3, n = 30, D = 5, m = 2;
  Context context;
  const Problem problem = test::ridge_problem(n, D, m, 103);
  std::vector<RowStatistics> weighted, repeated;
  for (int64_t fold = 0; fold <= K; ++fold) {
    weighted.emplace_back(D, m);
    repeated.emplace_back(D, m);
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto fold = static_cast<std::size_t>(i % K);
    const MatrixView<const double> Z = problem.Z.view().block_rows(i, i + 1),
                                   Y = problem.Y.view().block_rows(i, i + 1);
    const int64_t weight = (i / K) % 4;
    weighted[fold].add(Z, Y, context, std::vector<double>{static_cast<double>(weight)});
    for (int64_t k = 0; k < weight; ++k) repeated[fold].add(Z, Y, context);
    // A fold of rows that weigh nothing counts for nothing.
    weighted[K].add(Z, Y, context, std::vector<double>{0.0});
  }
  const std::vector<double> lambdas = {1.0, 1e-3};
  const Matrix<double> expected = solver::kfold_error(repeated, center, lambdas, context),
                       found = solver::kfold_error(weighted, center, lambdas, context);
  for (int64_t l = 0; l < 2; ++l)
    for (int64_t j = 0; j < m; ++j) CHECK(found(l, j) == Approx(expected(l, j)).epsilon(1e-9));
  // All the weight in one fold: no other to fit on.
  const RowStatistics* alone[] = {&weighted[0], &weighted[K]};
  CHECK_REFUSED(MERCER_INVALID_ARGUMENT, solver::kfold_error(alone, center, lambdas, context),
                "1 of 2 hold rows of positive weight");
}

TEST_CASE("K-fold reports progress by fold and can be cancelled", "[solver]") {
  const Problem problem = test::ridge_problem(12, 3, 1, 102);
  std::vector<RowStatistics> folds;
  for (int64_t i = 0; i < 12; i += 4)
    folds.push_back(test::statistics_of(problem.Z.view().block_rows(i, i + 4),
                                        problem.Y.view().block_rows(i, i + 4)));
  Context context;
  test::LastProgress last{2};
  last.watch(context);
  const std::vector<double> lambdas = {1e-3};
  CHECK_THROWS_AS(solver::kfold_error(folds, true, lambdas, context), Error);
  CHECK(last.done == 2);
  CHECK(last.total == 3);
}
