// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Problems with several outputs, whole: Phi as a matrix, and the penalised least squares on it by
// elimination in long double.
#pragma once
#include "ridge_problem.h"
#include "support/catch.h"
#include "support/dense.h"

namespace mercer::test {

inline constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Y with about a third of its entries missing, one whole row among them.
inline Matrix<double> with_gaps(MatrixView<const double> Y, uint64_t seed) {
  const Matrix<double> coin = random_matrix(Y.rows, Y.cols, seed);
  return filled(Y.rows, Y.cols, [&](int64_t i, int64_t k) {
    return i == 2 || coin(i, k) > 0.4 ? kMissing : Y(i, k);
  });
}

/// A and b of sum over observed entries of (Phi theta - y)^2 + shift |theta|^2, whose theta is
/// A^{-1} b. The first `penalised` coefficients are.
struct WholeSystem {
  std::vector<std::vector<long double>> A, b;
};
inline WholeSystem whole_system(MatrixView<const double> Phi, MatrixView<const double> Y,
                                double shift, int64_t penalised) {
  const auto r = static_cast<size_t>(Phi.cols);
  WholeSystem system{{r, std::vector<long double>(r, 0.0L)},
                     {r, std::vector<long double>(1, 0.0L)}};
  auto& [A, b] = system;
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
  return system;
}
}  // namespace mercer::test
