// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Matrices of prescribed singular values, whose solutions are known in closed form.
#pragma once

#include <cmath>
#include <vector>

#include "support/dense.h"

namespace mercer::test {

/// count values from 1 down to 1 / condition, geometrically.
inline std::vector<double> geometric(int64_t count, double condition) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::pow(condition, -static_cast<double>(i) / static_cast<double>(count - 1)));
  return values;
}

/// n x n, orthogonal.
inline Matrix<double> some_rotation(int64_t n, uint64_t seed) {
  Matrix<double> Q = random_matrix(n, n, seed);
  for (int64_t sweep = 0; sweep < 2; ++sweep)  // Gram and Schmidt, twice
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = 0; k < i; ++k) {
        double share = 0;
        for (int64_t j = 0; j < n; ++j) share += Q(i, j) * Q(k, j);
        for (int64_t j = 0; j < n; ++j) Q(i, j) -= share * Q(k, j);
      }
      double square = 0;
      for (int64_t j = 0; j < n; ++j) square += Q(i, j) * Q(i, j);
      for (int64_t j = 0; j < n; ++j) Q(i, j) /= std::sqrt(square);
    }
  return Q;
}

/// U f(s) V' B with the rows of U and V rotations' (or their first s.size() columns).
template <class F>
Matrix<double> spectral_product(const Matrix<double>& U, const std::vector<double>& s,
                                const Matrix<double>& V, MatrixView<const double> B, const F& f) {
  Matrix<double> middle(static_cast<int64_t>(s.size()), B.cols);
  for (int64_t k = 0; k < middle.rows(); ++k)
    for (int64_t j = 0; j < B.cols; ++j) {
      long double sum = 0;
      for (int64_t i = 0; i < B.rows; ++i) sum += static_cast<long double>(V(i, k)) * B(i, j);
      middle(k, j) = static_cast<double>(sum) * f(s[k]);
    }
  Matrix<double> result(U.rows(), B.cols);
  for (int64_t i = 0; i < U.rows(); ++i)
    for (int64_t j = 0; j < B.cols; ++j) {
      long double sum = 0;
      for (int64_t k = 0; k < middle.rows(); ++k)
        sum += static_cast<long double>(U(i, k)) * middle(k, j);
      result(i, j) = static_cast<double>(sum);
    }
  return result;
}

inline Matrix<double> identity(int64_t n) {
  return filled(n, n, [](int64_t i, int64_t j) { return i == j ? 1.0 : 0.0; });
}

}  // namespace mercer::test
