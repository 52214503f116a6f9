// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A ridge problem with correlated features, and its solution by a route of its own: Gauss-Jordan
// elimination with pivots in long double on explicitly written normal equations, an unpenalised
// column of ones instead of centring.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "solver/primal_system.h"
#include "support/dense.h"
#include "support/matrix_source.h"

namespace mercer::test {

struct Problem {
  Matrix<double> Z, Y;
};

/// Rows with means far from zero and singular values that decay by about 1e3 in all.
inline Problem ridge_problem(int64_t n, int64_t D, int64_t m, uint64_t seed) {
  Problem problem{random_matrix(n, D, seed), random_matrix(n, m, seed + 1)};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < D; ++j)
      problem.Z(i, j) =
          problem.Z(i, j) * std::pow(10.0, -3.0 * static_cast<double>(j) / static_cast<double>(D)) +
          0.3;
    for (int64_t j = 0; j < m; ++j) problem.Y(i, j) += 2 + problem.Z(i, 0);
  }
  return problem;
}

inline solver::RowStatistics statistics_of(MatrixView<const double> Z, MatrixView<const double> Y) {
  Context context;
  solver::RowStatistics statistics(Z.cols, Y.cols);
  statistics.add(Z, Y, context);
  return statistics;
}

/// Leave-one-out residuals of these rows at one lambda.
inline Matrix<double> left_out(const solver::RidgeSystem& system, double lambda,
                               MatrixView<const double> Z, MatrixView<const double> Y,
                               Context& context, std::span<const double> weights = {}) {
  return system.leave_one_out({&lambda, 1}, {0, Z, Y, weights}, context);
}

/// The solution, and the residuals that a system gives with it.
inline std::pair<solver::Solution, Matrix<double>> solved_leaving_out(solver::RidgeSystem& system,
                                                                      double lambda,
                                                                      MatrixView<const double> Z,
                                                                      MatrixView<const double> Y,
                                                                      Context& context) {
  Matrix<double> residuals(Y.rows, Y.cols);
  solver::Solution found =
      system.solve_leaving_out(MatrixSource(Z, Y, Z.rows, false), lambda, context,
                               [&](int64_t i, const double*, double, const double* left) {
                                 std::copy_n(left, Y.cols, residuals.view().row(i));
                               });
  return {std::move(found), std::move(residuals)};
}

/// A^{-1} B in long double.
inline Matrix<double> eliminate(const std::vector<std::vector<long double>>& A,
                                const std::vector<std::vector<long double>>& B) {
  auto M = A;
  auto R = B;
  const std::size_t size = M.size();
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t best = k;
    for (std::size_t i = k; i < size; ++i)
      if (std::abs(M[i][k]) > std::abs(M[best][k])) best = i;
    std::swap(M[k], M[best]);
    std::swap(R[k], R[best]);
    for (std::size_t i = 0; i < size; ++i) {
      if (i == k) continue;
      const long double factor = M[i][k] / M[k][k];
      for (std::size_t j = k; j < size; ++j) M[i][j] -= factor * M[k][j];
      for (std::size_t j = 0; j < R[i].size(); ++j) R[i][j] -= factor * R[k][j];
    }
  }
  const auto outputs = size == 0 ? std::size_t{0} : R[0].size();
  Matrix<double> X(static_cast<int64_t>(size), static_cast<int64_t>(outputs));
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < outputs; ++j)
      X(static_cast<int64_t>(i), static_cast<int64_t>(j)) = static_cast<double>(R[i][j] / M[i][i]);
  return X;
}

/// Weights from the rows for which keep[i], penalty `shift` = n lambda on all columns but that of
/// ones.
inline solver::Weights reference_ridge(const Problem& problem, bool center, double shift,
                                       const std::vector<bool>& keep) {
  const int64_t D = problem.Z.cols(), m = problem.Y.cols(), size = D + (center ? 1 : 0);
  const auto length = static_cast<std::size_t>(size), outputs = static_cast<std::size_t>(m);
  std::vector<std::vector<long double>> A(length, std::vector<long double>(length, 0.0L));
  std::vector<std::vector<long double>> B(length, std::vector<long double>(outputs, 0.0L));
  for (int64_t i = 0; i < problem.Z.rows(); ++i) {
    if (!keep[i]) continue;
    const auto z = [&](std::size_t j) {
      return static_cast<int64_t>(j) < D
                 ? static_cast<long double>(problem.Z(i, static_cast<int64_t>(j)))
                 : 1.0L;
    };
    for (std::size_t j = 0; j < length; ++j) {
      for (std::size_t k = 0; k < length; ++k) A[j][k] += z(j) * z(k);
      for (std::size_t k = 0; k < outputs; ++k)
        B[j][k] += z(j) * problem.Y(i, static_cast<int64_t>(k));
    }
  }
  for (int64_t j = 0; j < D; ++j) A[j][j] += shift;
  const Matrix<double> X = eliminate(A, B);
  solver::Weights weights{Matrix<double>(D, m), std::vector<double>(outputs, 0.0)};
  for (int64_t k = 0; k < m; ++k) {
    for (int64_t j = 0; j < D; ++j) weights.w(j, k) = X(j, k);
    if (center) weights.intercept[k] = X(D, k);
  }
  return weights;
}

inline solver::Weights reference_ridge(const Problem& problem, bool center, double shift) {
  return reference_ridge(problem, center, shift, std::vector<bool>(problem.Z.rows(), true));
}

/// y - a - Zw.
inline Matrix<double> residuals(const Problem& problem, const solver::Weights& weights) {
  Matrix<double> R = product(problem.Z.view(), weights.w.view());
  for (int64_t i = 0; i < R.rows(); ++i)
    for (int64_t j = 0; j < R.cols(); ++j)
      R(i, j) = problem.Y(i, j) - weights.intercept[j] - R(i, j);
  return R;
}

/// "" if weights and intercepts agree to `tolerance` times the largest of each side.
inline std::string weights_differ(const solver::Weights& a, const solver::Weights& b,
                                  double tolerance) {
  const std::string w =
      difference(a.w.view(), b.w.view(), tolerance * std::max(1e-300, largest(b.w.view())));
  if (w != "") return "w" + w;
  for (std::size_t j = 0; j < b.intercept.size(); ++j)
    if (!(std::abs(a.intercept[j] - b.intercept[j]) <=
          tolerance * (1 + std::abs(b.intercept[j]) + largest(b.w.view()))))
      return "intercept " + std::to_string(a.intercept[j]) + " " + std::to_string(b.intercept[j]);
  return "";
}

}  // namespace mercer::test
