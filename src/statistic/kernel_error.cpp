// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "statistic/kernel_error.h"

#include <cmath>

#include "base/error.h"

namespace mercer::statistic {

KernelError kernel_error(MatrixView<const double> approximate, MatrixView<const double> exact) {
  require(approximate.rows == exact.rows && approximate.cols == exact.cols,
          MERCER_DIMENSION_MISMATCH,
          "approximate is %lld x %lld and exact %lld x %lld, expected the same shape",
          static_cast<long long>(approximate.rows), static_cast<long long>(approximate.cols),
          static_cast<long long>(exact.rows), static_cast<long long>(exact.cols));
  double difference = 0;
  double norm = 0;
  double largest = 0;
  for (int64_t i = 0; i < exact.rows; ++i) {
    double row_difference =
        0;  // rows apart: rounding grows with a row's length, not with the matrix's
    double row_norm = 0;
    for (int64_t j = 0; j < exact.cols; ++j) {
      const double error = approximate(i, j) - exact(i, j);
      row_difference += error * error;
      row_norm += exact(i, j) * exact(i, j);
      if (!(std::fabs(error) <= largest))
        largest = std::isnan(largest) ? largest : std::fabs(error);
    }
    difference += row_difference;
    norm += row_norm;
  }
  require(norm != 0, MERCER_INVALID_ARGUMENT,
          "the norm of exact is 0, expected a matrix that is not zero");
  return {std::sqrt(difference / norm), largest};
}

}  // namespace mercer::statistic
