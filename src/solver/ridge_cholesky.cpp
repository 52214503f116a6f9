// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// One lambda: (Z'Z + n lambda I) w = Z'Y by Cholesky in the statistics' own storage.
#include <algorithm>

#include "linalg/blas.h"
#include "solver/centering.h"
#include "solver/inverse_trace.h"
#include "solver/jittered_cholesky.h"

namespace mercer::solver {

namespace {

/// shrunk: null, or where n lambda Tr A^{-1} of the shifted Gram matrix A goes.
Weights solve_in_place(RowStatistics&& statistics, bool center, double lambda, Context& context,
                       double* shrunk) {
  RowStatistics taken = std::move(statistics);
  taken.release_scratch();
  require_rows(taken, "ridge_cholesky");
  const double shift = checked_shift(lambda, taken.weight());
  const Means means = center_in_place(taken, center);
  const MatrixView<double> gram = taken.parts().gram;
  for (int64_t i = 0; i < gram.rows; ++i) gram(i, i) += shift;
  jittered_cholesky(gram, context);
  if (shrunk != nullptr) *shrunk = shift * inverse_trace(gram, context);

  const MatrixView<const double> cross = taken.cross();
  Weights weights{Matrix<double>(cross.rows, cross.cols), {}};
  std::copy_n(cross.data, cross.rows * cross.cols, weights.w.data());
  linalg::cholesky_solve(gram, weights.w.view());
  weights.intercept = intercepts(means.row, weights.w.view());
  return weights;
}

}  // namespace

Weights ridge_cholesky(RowStatistics&& statistics, bool center, double lambda, Context& context) {
  return solve_in_place(std::move(statistics), center, lambda, context, nullptr);
}

Solution ridge_cholesky_solution(RowStatistics&& statistics, bool center, double lambda,
                                 Context& context) {
  const auto D = static_cast<double>(statistics.features());
  double shrunk = 0;
  Weights weights = solve_in_place(std::move(statistics), center, lambda, context, &shrunk);
  return {std::move(weights), D - shrunk + (center ? 1.0 : 0.0)};
}

}  // namespace mercer::solver
