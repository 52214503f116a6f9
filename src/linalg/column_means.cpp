// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "linalg/column_means.h"

#include <cstddef>

namespace mercer::linalg {

std::vector<double> column_means(MatrixView<const double> A, std::span<const double> weights) {
  std::vector<double> mean(A.cols, 0.0), rest = mean;
  const auto weight = [&](int64_t i) { return weights.empty() ? 1.0 : weights[i]; };
  double n = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    n += weight(i);
    for (int64_t j = 0; j < A.cols; ++j) mean[j] += weight(i) * A(i, j);
  }
  for (double& value : mean) value /= n;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) rest[j] += weight(i) * (A(i, j) - mean[j]);
  for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += rest[j] / n;
  return mean;
}

void subtract_from_rows(std::span<const double> offset, MatrixView<double> A) {
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t j = 0; j < A.cols; ++j) A(i, j) -= offset[j];
}

}  // namespace mercer::linalg
