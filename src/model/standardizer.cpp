// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Column means and standard deviations of the inputs, in two passes (the corrected two-pass
// algorithm: Chan, Golub, LeVeque 1983), so that columns with a large offset keep their digits. The
// deviation divides by n.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/model.h"

namespace mercer::model {
namespace {

/// Below this multiple of the column's largest entry a deviation is rounding: the column is
/// constant.
constexpr double kConstantColumn = 1e-14;

/// 1 for a column whose deviation is rounding beside its largest entry.
double scale_of(double variance, double largest) {
  const double deviation = std::sqrt(std::max(0.0, variance));
  return deviation > kConstantColumn * largest ? deviation : 1.0;
}

template <class T>
Standardizer fit(const MatrixView<const T>& X) {
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
    result.scale[j] = scale_of(squares[j] / n - (rest[j] / n) * (rest[j] / n), largest[j]);
  }
  return result;
}

/// The non-zero numbers about their mean, then the zeros: with k of n rows non-zero, their mean m
/// and squares S about it, the variance is S/n + m^2 (k/n)(1 - k/n).
template <class T>
Standardizer fit(const CsrView<T>& X) {
  const size_t d = static_cast<size_t>(X.cols);
  Standardizer result{std::vector<double>(d, 0.0), std::vector<double>(d, 1.0)};
  std::vector<double> row(d, 0.0), count(d, 0.0), mean(d, 0.0), squares(d, 0.0), largest(d, 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    for_each_listed(X, i, [&](int64_t j, T value) { row[static_cast<size_t>(j)] += value; });
    for_each_listed(X, i, [&](int64_t column, T) {
      const auto j = static_cast<size_t>(column);
      const double x = std::exchange(row[j], 0.0);  // a column listed twice counts once
      if (x == 0) return;
      const double before = x - mean[j];
      count[j] += 1;
      mean[j] += before / count[j];
      squares[j] += before * (x - mean[j]);
      largest[j] = std::max(largest[j], std::abs(x));
    });
  }
  const double n = std::max<double>(1.0, static_cast<double>(X.rows));
  for (size_t j = 0; j < d; ++j) {
    const double share = count[j] / n;
    result.scale[j] =
        scale_of(squares[j] / n + mean[j] * mean[j] * share * (1 - share), largest[j]);
  }
  return result;
}

}  // namespace

bool Standardizer::centres() const noexcept {
  return std::ranges::any_of(mean, [](double m) { return m != 0; });
}

Standardizer fit_standardizer(const Rows& rows) {
  return rows.visit([](const auto& X) { return fit(X); });
}

}  // namespace mercer::model
