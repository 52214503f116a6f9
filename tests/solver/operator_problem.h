// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Problems with several outputs, whole: Phi as a matrix, and the penalised least squares on it by
// elimination in long double.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "ridge_problem.h"
#include "solver/operator_loss.h"
#include "solver/operator_ridge.h"
#include "support/catch.h"
#include "support/dense.h"

namespace mercer::test {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Row i p + o, column c q + b: Z(i, c) B(o, b).
inline Matrix<double> decomposable_phi(MatrixView<const double> Z, MatrixView<const double> B) {
  return filled(Z.rows * B.rows, Z.cols * B.cols, [&](int64_t row, int64_t column) {
    return Z(row / B.rows, column / B.cols) * B(row % B.rows, column % B.cols);
  });
}

/// Y with about a third of its entries missing, one whole row among them.
inline Matrix<double> with_gaps(MatrixView<const double> Y, uint64_t seed) {
  const Matrix<double> coin = random_matrix(Y.rows, Y.cols, seed);
  return filled(Y.rows, Y.cols, [&](int64_t i, int64_t k) {
    return i == 2 || coin(i, k) > 0.4 ? kMissing : Y(i, k);
  });
}

/// theta of sum over observed entries of (Phi theta - y)^2 + shift |theta|^2, r x 1. The first
/// `penalised` coefficients are.
inline Matrix<double> reference_operator_ridge(MatrixView<const double> Phi,
                                               MatrixView<const double> Y, double shift,
                                               int64_t penalised) {
  const auto r = static_cast<size_t>(Phi.cols);
  std::vector<std::vector<long double>> A(r, std::vector<long double>(r, 0.0L)),
      b(r, std::vector<long double>(1, 0.0L));
  for (int64_t row = 0; row < Phi.rows; ++row) {
    const double y = Y(row / Y.cols, row % Y.cols);
    if (std::isnan(y)) continue;
    for (size_t j = 0; j < r; ++j) {
      const long double of_j = Phi(row, static_cast<int64_t>(j));
      for (size_t k = 0; k < r; ++k) A[j][k] += of_j * Phi(row, static_cast<int64_t>(k));
      b[j][0] += of_j * y;
    }
  }
  for (size_t j = 0; j < static_cast<size_t>(penalised); ++j) A[j][j] += shift;
  return eliminate(A, b);
}
inline Matrix<double> reference_operator_ridge(MatrixView<const double> Phi,
                                               MatrixView<const double> Y, double shift) {
  return reference_operator_ridge(Phi, Y, shift, Phi.cols);
}

/// A vector as a matrix of as many entries, by rows.
inline Matrix<double> shaped(const double* data, int64_t rows, int64_t cols) {
  return filled(rows, cols, [&](int64_t i, int64_t j) { return data[i * cols + j]; });
}

inline double sum_of_squares(MatrixView<const double> A) {
  double sum = 0;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) sum += A(i, j) * A(i, j);
  return sum;
}

inline constexpr solver::OperatorSolver kSolvers[] = {solver::OperatorSolver::conjugate_gradient,
                                                      solver::OperatorSolver::lsqr};

/// theta, r x 1, by a method that takes steps, to rounding.
inline Matrix<double> solved(const solver::OperatorRows& rows, MatrixView<const double> Y,
                             double lambda, solver::OperatorSolver by) {
  Context context;
  std::vector<double> theta(static_cast<size_t>(rows.coefficients()), 0.0);
  const solver::OperatorRidge result =
      solver::operator_ridge(rows, Y, lambda, {by, 1e-13, 5000}, context, theta);
  CHECK(result.converged);
  CHECK(result.residual < 1e-11);
  return shaped(theta.data(), rows.coefficients(), 1);
}

using Vector = std::vector<double>;

/// N rows, p outputs, r coefficients with values of order 1; targets from a theta, and noise.
struct Task {
  Matrix<double> Phi, Y, gaps;
  solver::ExplicitRows rows;
  Task(int64_t N, int64_t p, int64_t r, uint64_t seed)
      : Phi(random_matrix(N * p, r, seed)),
        Y(shaped(product(Phi.view(), random_matrix(r, 1, seed + 1).view()).data(), N, p)),
        rows(Phi.view(), p) {
    const Matrix<double> noise = random_matrix(N, p, seed + 2);
    for (int64_t i = 0; i < N; ++i)
      for (int64_t k = 0; k < p; ++k) Y(i, k) += 0.3 * noise(i, k);
    gaps = with_gaps(Y.view(), seed + 3);
  }
  Matrix<double> classes(bool separate, bool missing) const {
    return filled(Y.rows(), Y.cols(), [&](int64_t i, int64_t k) {
      if (missing && (separate ? std::isnan(gaps(i, k)) : i % 4 == 1)) return kMissing;
      if (separate) return Y(i, k) > 0 ? 1.0 : 0.0;
      int64_t best = 0;
      for (int64_t l = 1; l < Y.cols(); ++l)
        if (Y(i, l) > Y(i, best)) best = l;
      return k == best ? 1.0 : 0.0;
    });
  }
};

inline Vector minimum(const solver::OperatorObjective& objective) {
  Context context;
  Vector theta(static_cast<size_t>(objective.rows().coefficients()), 0.0);
  CHECK(solver::minimize(objective, {.tolerance = 1e-15}, context, theta).converged);
  return theta;
}

}  // namespace mercer::test
