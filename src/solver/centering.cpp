// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z'Z - n m m', Z'Y - n m ybar', sum y^2 - n ybar^2, with m and ybar the means.
#include "solver/centering.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "linalg/blas.h"

namespace mercer::solver {

Means center_in_place(RowStatistics& statistics, bool center) {
  const RowStatistics::Parts parts = statistics.parts();
  Means means{std::vector<double>(parts.sum_features.size(), 0.0),
              std::vector<double>(parts.sum_outputs.size(), 0.0)};
  if (!center) return means;
  const double n = static_cast<double>(parts.rows);
  std::transform(parts.sum_features.begin(), parts.sum_features.end(), means.features.begin(),
                 [n](double sum) { return sum / n; });
  std::transform(parts.sum_outputs.begin(), parts.sum_outputs.end(), means.outputs.begin(),
                 [n](double sum) { return sum / n; });
  const int64_t D = statistics.features(), m = statistics.outputs();
  linalg::rank_update(-n, MatrixView<const double>(means.features.data(), 1, D), parts.gram);
  for (int64_t i = 0; i < D; ++i)
    for (int64_t j = 0; j < m; ++j)
      parts.cross(i, j) -= parts.sum_features[static_cast<std::size_t>(i)] *
                           means.outputs[static_cast<std::size_t>(j)];
  for (std::size_t j = 0; j < means.outputs.size(); ++j) {
    double& squares = parts.sum_squared_outputs[j];
    squares = std::max(0.0, squares - n * means.outputs[j] * means.outputs[j]);
  }
  return means;
}

std::vector<double> intercepts(const Means& means, MatrixView<const double> w) {
  std::vector<double> result = means.outputs;
  for (int64_t i = 0; i < w.rows; ++i)
    for (int64_t j = 0; j < w.cols; ++j)
      result[static_cast<std::size_t>(j)] -= means.features[static_cast<std::size_t>(i)] * w(i, j);
  return result;
}

double checked_shift(double lambda, int64_t rows) {
  require(std::isfinite(lambda) && lambda >= 0, MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a finite number >= 0", lambda);
  const double shift = lambda * static_cast<double>(rows);
  require(std::isfinite(shift), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected n lambda to be finite for n = %lld rows", lambda,
          static_cast<long long>(rows));
  return shift;
}

void require_rows(int64_t rows, const char* what) {
  require(rows >= 1, MERCER_INVALID_ARGUMENT, "%s: %lld rows, expected at least 1", what,
          static_cast<long long>(rows));
}

}  // namespace mercer::solver
