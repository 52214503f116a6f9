// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Leave-one-out from one Cholesky factor, primal and dual, against the eigendecompositions'.
#include "solver/ridge_factor.h"

#include <cmath>
#include <vector>

#include "solver/dual_system.h"
#include "support/catch.h"
#include "support/dense.h"
#include "support/worst.h"

using namespace mercer;
using namespace mercer::solver;

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
        const RidgePath path(statistics.clone(), center, context);
        const RidgeFactor factor(std::move(statistics), center, lambda, context);
        const Weights own = factor.weights(context);
        const Matrix<double> expected =
            path.leave_one_out(lambda, Z.view(), Y.view(), context, weights);
        const Matrix<double> primal =
            factor.leave_one_out(own, Z.view(), Y.view(), context, weights);
        const DualSystem dual(test::copy(Z.view()), test::copy(Y.view()), weights, center, context);
        Matrix<double> residuals;
        const Weights by_dual = dual.solve(lambda, context, residuals);
        double worst = 0, apart = 0;
        for (int64_t k = 0; k < n * 2; ++k) {
          test::keep_worst(worst, std::fabs(primal.data()[k] - expected.data()[k]));
          test::keep_worst(worst, std::fabs(residuals.data()[k] - expected.data()[k]));
        }
        for (int64_t k = 0; k < D * 2; ++k)
          test::keep_worst(apart, std::fabs(own.w.data()[k] - by_dual.w.data()[k]));
        // Conditions are below 1e4.
        CHECK(worst <= 1e-9);
        CHECK(apart <= 1e-9);
      }
}
