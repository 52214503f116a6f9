// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// sum (y - c - w'z)^2 = sum y^2 - 2 w'Z'y + w'Z'Z w + 2 c (w'sum z - sum y) + n c^2, from
// statistics alone, all about their origin: c = intercept - b + w'a there.
#include <vector>

#include "base/error.h"
#include "linalg/blas.h"
#include "solver/centering.h"

namespace mercer::solver {

std::vector<double> mean_squared_error(const Weights& weights, const RowStatistics& statistics) {
  const int64_t D = statistics.features(), m = statistics.outputs();
  require(weights.w.rows() == D && weights.w.cols() == m &&
              static_cast<int64_t>(weights.intercept.size()) == m,
          MERCER_DIMENSION_MISMATCH,
          "weights are %ld x %ld, expected %ld features x %ld outputs of the statistics",
          weights.w.rows(), weights.w.cols(), D, m);
  require_rows(statistics, "rows to measure the error on");
  statistics.require_finite();
  // T = G w - 2 Z'y: then the quadratic and the linear term are one product w'T.
  const Matrix<double> T(D, m);
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < m; ++j) T(i, j) = -2 * statistics.cross()(i, j);
  linalg::multiply_symmetric(1.0, statistics.gram(), weights.w.view(), T.view());

  std::vector<double> constant = weights.intercept;
  for (std::size_t j = 0; j < constant.size(); ++j) constant[j] -= statistics.origin_outputs()[j];
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < m; ++j)
      constant[j] += weights.w(i, j) * statistics.origin_features()[i];
  const double n = statistics.weight();
  std::vector<double> error(m);
  for (std::size_t j = 0; j < error.size(); ++j) {
    const double c = constant[j];
    error[j] = statistics.sum_squared_outputs()[j] + c * (n * c - 2 * statistics.sum_outputs()[j]);
  }
  for (int64_t i = 0; i < D; ++i) {
    const double sum = statistics.sum_features()[i];
    for (int64_t j = 0; j < m; ++j) {
      const auto output = static_cast<std::size_t>(j);
      error[output] += weights.w(i, j) * (T(i, j) + 2 * constant[output] * sum);
    }
  }
  for (double& value : error) value = value < 0 ? 0.0 : value / n;  // NaN stays
  return error;
}

}  // namespace mercer::solver
