// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Averaged stochastic gradients: as near the minimum as their theory says, the same from the same
// seed.
#include "solver/operator_descent.h"

#include <cstring>

#include "operator_problem.h"
#include "support/catch.h"

using namespace mercer;
using namespace mercer::solver;
using namespace mercer::test;

namespace {

using LongMatrix = std::vector<std::vector<long double>>;

double value(const OperatorObjective& objective, const Vector& theta) {
  Context context;
  Vector gradient(theta.size());
  return objective(theta, gradient, context);
}

/// The gradient of a step with rows [first, first + count).
Vector block_gradient(const OperatorObjective& objective, int64_t first, int64_t count,
                      const Vector& theta) {
  Context context;
  const OperatorRows& rows = objective.rows();
  const Matrix<double> S(count, rows.outputs());
  rows.values(first, as_column(std::span(theta)), context, S.view());
  take_slopes(objective.loss(), objective.targets().block_rows(first, first + count), S.view());
  Vector sum(theta.size(), 0.0);
  rows.add_adjoint(first, S.view(), context, as_column(std::span(sum)));
  for (size_t j = 0; j < sum.size(); ++j)
    sum[j] = sum[j] / static_cast<double>(count) + objective.lambda() * theta[j];
  return sum;
}

/// Second derivatives, by differences.
LongMatrix curvature(const OperatorObjective& objective, Vector theta) {
  Context context;
  const double h = 1e-4;
  LongMatrix H(theta.size(), std::vector<long double>(theta.size()));
  Vector above(theta.size()), below(theta.size());
  for (size_t j = 0; j < theta.size(); ++j) {
    const double at = theta[j];
    theta[j] = at + h;
    objective(theta, above, context);
    theta[j] = at - h;
    objective(theta, below, context);
    theta[j] = at;
    for (size_t k = 0; k < theta.size(); ++k) H[j][k] = (above[k] - below[k]) / (2 * h);
  }
  return H;
}

/// What f is above its minimum after `steps` averaged steps, but for one run in e^x: the mean of
/// the iterates is N(best, H^{-1} S H^{-1} / steps) (Polyak, Juditsky 1992), S the covariance of
/// the blocks' gradients at the minimum, less for blocks without replacement, so that the gap is
/// sum a_i z_i^2, a the eigenvalues of H^{-1} S / (2 steps), and below sum a + (2 sqrt x + 2 x)
/// |a| (Laurent, Massart 2000, lemma 1).
double gap_bound(const OperatorObjective& objective, const Vector& best, int64_t block,
                 double steps, double x) {
  const int64_t blocks = objective.rows().rows() / block;
  LongMatrix S(best.size(), std::vector<long double>(best.size(), 0.0L));
  for (int64_t b = 0; b < blocks; ++b) {
    const Vector g = block_gradient(objective, b * block, block, best);
    for (size_t j = 0; j < g.size(); ++j)
      for (size_t k = 0; k < g.size(); ++k)
        S[j][k] += static_cast<long double>(g[j]) * g[k] / static_cast<long double>(blocks);
  }
  const Matrix<double> A = eliminate(curvature(objective, best), S);
  double trace = 0, squares = 0;  // of A and of A^2
  for (int64_t j = 0; j < A.rows(); ++j) {
    trace += A(j, j);
    for (int64_t k = 0; k < A.rows(); ++k) squares += A(j, k) * A(k, j);
  }
  return (trace + (2 * std::sqrt(x) + 2 * x) * std::sqrt(squares)) / (2 * steps);
}

}  // namespace

TEST_CASE("averaged gradients come near the minimum, the same from the same seed", "[solver]") {
  const Task task(600, 2, 8, 831);
  const Matrix<double> binary = task.classes(true, true);
  const OperatorObjective objectives[] = {
      {task.rows, task.gaps.view(), {}, 0.05},
      {task.rows, task.gaps.view(), {find_loss("huber"), {{.delta = 0.5}}}, 0.05},
      {task.rows, binary.view(), {find_loss("logistic"), {}, true}, 0.05}};
  Context context;
  for (const OperatorObjective& objective : objectives) {
    const Vector best = minimum(objective);
    const double least = value(objective, best), start = value(objective, Vector(8, 0.0));
    Vector theta(8, 0.0), again(8, 0.0), other(8, 0.0);
    const DescentOptions options{.epochs = 30, .block_rows = 50, .seed = 5};
    const DescentResult result = averaged_descent(objective, options, context, theta);
    CHECK(result.steps == 30 * 12);
    CHECK(std::abs(result.value - value(objective, theta)) < 1e-14);
    CHECK(result.value >= least - 1e-12);
    const double bound = gap_bound(objective, best, 50, 15 * 12, std::log(1e6));
    CHECK(result.value - least < bound);
    CHECK(bound < 0.1 * (start - least));  // it says something
    averaged_descent(objective, options, context, again);
    CHECK(std::memcmp(theta.data(), again.data(), 8 * sizeof(double)) == 0);
    averaged_descent(objective, {.epochs = 30, .block_rows = 50, .seed = 6}, context, other);
    CHECK(theta != other);
  }
}
