// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Column means and standard deviations of the inputs, in two passes (the corrected two-pass
// algorithm: Chan, Golub, LeVeque 1983), so that columns with a large offset keep their digits. The
// deviation divides by n.
#include <algorithm>
#include <cmath>

#include "model/model.h"

namespace mercer::model {
namespace {

/// Below this multiple of the column's largest entry a deviation is rounding: the column is
/// constant.
constexpr double kConstantColumn = 1e-14;

}  // namespace

template <class T>
Standardizer fit_standardizer(MatrixView<const T> X) {
  const size_t d = static_cast<size_t>(X.cols);
  Standardizer result{std::vector<double>(d, 0.0), std::vector<double>(d, 1.0)};
  if (X.rows == 0) return result;
  const double n = static_cast<double>(X.rows);
  std::vector<double> largest(d, 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    for (size_t j = 0; j < d; ++j) {
      const double x = X.row(i)[j];
      result.mean[j] += x / n;
      largest[j] = std::max(largest[j], std::abs(x));
    }
  }
  std::vector<double> squares(d, 0.0), rest(d, 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    for (size_t j = 0; j < d; ++j) {
      const double difference = static_cast<double>(X.row(i)[j]) - result.mean[j];
      squares[j] += difference * difference;
      rest[j] += difference;
    }
  }
  for (size_t j = 0; j < d; ++j) {
    result.mean[j] += rest[j] / n;
    const double variance = std::max(0.0, squares[j] / n - (rest[j] / n) * (rest[j] / n));
    const double deviation = std::sqrt(variance);
    if (deviation > kConstantColumn * largest[j]) result.scale[j] = deviation;
  }
  return result;
}

template Standardizer fit_standardizer(MatrixView<const float>);
template Standardizer fit_standardizer(MatrixView<const double>);

}  // namespace mercer::model
