// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Tr H by probes beside the exact one. Its standard deviation is at most sqrt(2 Tr H / 16): five of
// them are exceeded with probability below 6e-7 were it normal, 1/25 by Chebyshev; the probes are
// fixed, so that the outcome is.
#include "solver/inverse_trace.h"

#include <cmath>

#include "ridge_problem.h"
#include "solver/dual_system.h"
#include "solver/ridge.h"
#include "support/catch.h"

using namespace mercer;
using test::Problem;

TEST_CASE("a solution's effective dimension is near the exact one, its weights are those of solve",
          "[solver]") {
  const bool center = GENERATE(false, true);
  const double lambda = GENERATE(1e-4, 1e-2, 1.0);
  Context context;
  for (const int64_t D : {12, 280, 320}) {  // of 280 and 320 by probes
    const int64_t n = D == 12 ? 40 : 300;
    const Problem problem = test::ridge_problem(n, D, 2, 97);
    const auto statistics = test::statistics_of(problem.Z.view(), problem.Y.view());
    const solver::RidgePath path(statistics.clone(), center, context);
    const double exact = path.effective_dimension(lambda);
    const solver::Solution primal =
        solver::ridge_cholesky_solution(statistics.clone(), center, lambda, context);
    const solver::DualSystem system(test::copy(problem.Z.view()), test::copy(problem.Y.view()), {},
                                    center, context);
    const solver::Solution dual = system.solution(lambda, context);
    const double bound = D == 12 ? 1e-8 : 5 * std::sqrt(2 * exact / 16);
    CAPTURE(D, exact);
    CHECK(std::abs(primal.effective_dimension - exact) < bound);
    CHECK(std::abs(dual.effective_dimension - exact) < bound);
    const solver::Weights plain =
        solver::ridge_cholesky(statistics.clone(), center, lambda, context);
    CHECK(test::difference(primal.weights.w.view(), plain.w.view(), 0) == "");
    CHECK(test::difference(dual.weights.w.view(), system.solve(lambda, context).w.view(), 0) == "");
  }
}

TEST_CASE("the inverse of a diagonal matrix is traced exactly", "[solver]") {
  Context context;
  const Matrix<double> L(3, 3);
  L.fill(0);
  L(0, 0) = 1;
  L(1, 1) = 2;
  L(2, 2) = 0.5;
  CHECK(solver::inverse_trace(L.view(), context) == Approx(1 + 0.25 + 4).epsilon(1e-14));
}
