// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/iterative_path.h"

#include <cmath>

#include "ridge_problem.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/matrix_source.h"
#include "support/refusal.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

namespace {

/// Columns whose sizes fall by a factor of a thousand: without a preconditioner some hundred steps.
Problem uneven_problem(int64_t n, int64_t D, int64_t outputs, uint64_t seed) {
  Problem problem = ridge_problem(n, D, outputs, seed);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < D; ++j)
      problem.Z(i, j) = 0.4 + problem.Z(i, j) * std::pow(10, -3.0 * static_cast<double>(j) /
                                                                 static_cast<double>(D));
  return problem;
}

double largest_gap(const Weights& a, const Weights& b, MatrixView<const double> Z) {
  double worst = 0;
  for (int64_t i = 0; i < Z.rows; ++i)
    for (int64_t k = 0; k < a.w.cols(); ++k) {
      double f = a.intercept[static_cast<size_t>(k)], g = b.intercept[static_cast<size_t>(k)];
      for (int64_t j = 0; j < Z.cols; ++j) {
        f += Z(i, j) * a.w(j, k);
        g += Z(i, j) * b.w(j, k);
      }
      worst = std::max(worst, std::abs(f - g));
    }
  return worst;
}

}  // namespace

TEST_CASE("conjugate gradients find the weights of a factor", "[solver]") {
  const Problem problem = uneven_problem(300, 40, 3, 501);
  std::vector<double> weights;
  for (int64_t i = 0; i < 300; ++i) weights.push_back(static_cast<double>(i % 4));
  Context context;
  Matrix<double> root(1, 3);  // of rank 1: two eigenvalues of Gamma are 0
  for (int64_t k = 0; k < 3; ++k) root(0, k) = static_cast<double>(1 + k);
  const Coupling joined(3, std::move(root), {1, 2, 0.5}, context);
  for (const Coupling* const coupling : {static_cast<const Coupling*>(nullptr), &joined})
    for (const bool center : {true, false})
      for (const double lambda : {1e-1, 1e-6}) {
        const MatrixSource rows(problem.Z.view(), problem.Y.view(), 37, false, weights);
        const RidgeProblem asked{center, coupling, true};
        const auto path = make_iterative_path(rows, asked, context);
        const Weights found = path->solve(lambda, context);
        Weights expected;
        if (coupling != nullptr) {
          expected = make_coupled_path(rows, asked, context)->solve(lambda, context);
        } else {
          expected =
              make_dual_path(make_dual_system(rows, center, context))->solve(lambda, context);
        }
        // A residual of 1e-9 of b over the least eigenvalue, n lambda, at the most 1e-9 |y|/lambda
        // of a weight whose column is as small: far less in f.
        CHECK(largest_gap(found, expected, problem.Z.view()) < 1e-5);
      }
}

TEST_CASE("the sketch sees the effective dimension where the spectrum falls", "[solver]") {
  const Problem problem = uneven_problem(300, 40, 1, 502);
  const MatrixSource rows(problem.Z.view(), problem.Y.view(), 64, false);
  Context context;
  const auto path = make_iterative_path(rows, {true, nullptr, true}, context);
  const double found = path->solution(1e-3, context).effective_dimension;
  DualSystem exact = make_dual_system(rows, true, context);
  exact.decompose(context);
  CHECK(found == Approx(exact.effective_dimension(1e-3)).epsilon(1e-3));  // a rank of all 40
}

TEST_CASE("conjugate gradients refuse what has no one Gram matrix", "[solver]") {
  const Problem problem = ridge_problem(30, 4, 2, 503);
  problem.Y(3, 1) = std::nan("");
  const MatrixSource rows(problem.Z.view(), problem.Y.view(), 8, false);
  Context context;
  CHECK(refusal_fault(
            MERCER_UNSUPPORTED,
            [&] {
              make_iterative_path(rows, {true, nullptr, true}, context);
            },
            "solver = cg", "missing targets") == "");
}
