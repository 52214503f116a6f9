// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Many small linear systems. Private to solver.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace mercer::solver {

/// e := M^{-1} e for a symmetric M (lower triangle, q x q, by rows), which becomes its Cholesky
/// factor; false if a pivot is not above `least`.
inline bool solve_small(int64_t q, double least, std::vector<double>& M, std::vector<double>& e) {
  const auto at = [&](int64_t i, int64_t j) -> double& { return M[i * q + j]; };
  for (int64_t j = 0; j < q; ++j) {
    if (!(at(j, j) > least)) return false;
    const double root = std::sqrt(at(j, j));
    for (int64_t i = j; i < q; ++i) at(i, j) /= root;
    for (int64_t i = j + 1; i < q; ++i)
      for (int64_t k = j + 1; k <= i; ++k) at(i, k) -= at(i, j) * at(k, j);
  }
  for (int64_t i = 0; i < q; ++i) {
    double& x = e[i];
    for (int64_t k = 0; k < i; ++k) x -= at(i, k) * e[k];
    x /= at(i, i);
  }
  for (int64_t i = q - 1; i >= 0; --i) {
    double& x = e[i];
    for (int64_t k = i + 1; k < q; ++k) x -= at(k, i) * e[k];
    x /= at(i, i);
  }
  return true;
}

}  // namespace mercer::solver
