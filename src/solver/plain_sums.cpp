// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// sum (u + a)(v + b) = sum u v + a sum v + b sum u + n a b, with a and b the origin.
#include "solver/plain_sums.h"

namespace mercer::solver {
namespace {

std::vector<double> plain(std::span<const double> sums, std::span<const double> origin, double n) {
  std::vector<double> result(sums.size());
  for (std::size_t j = 0; j < result.size(); ++j) result[j] = sums[j] + n * origin[j];
  return result;
}

}  // namespace

void write_plain_gram(const RowStatistics& statistics, MatrixView<double> out) {
  const auto a = statistics.origin_features(), s = statistics.sum_features();
  const auto t = plain_sum_features(statistics);
  for (int64_t i = 0; i < out.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t j = 0; j <= row; ++j) {
      const auto column = static_cast<int64_t>(j);
      const double value = statistics.gram()(i, column) + a[j] * s[row] + a[row] * t[j];
      out(i, column) = out(column, i) = value;
    }
  }
}

void write_plain_cross(const RowStatistics& statistics, MatrixView<double> out) {
  const auto a = statistics.origin_features(), s = statistics.sum_features();
  const auto b = statistics.origin_outputs();
  const auto t = plain_sum_outputs(statistics);
  for (int64_t i = 0; i < out.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const auto column = static_cast<int64_t>(j);
      out(i, column) = statistics.cross()(i, column) + b[j] * s[row] + a[row] * t[j];
    }
  }
}

std::vector<double> plain_sum_features(const RowStatistics& statistics) {
  return plain(statistics.sum_features(), statistics.origin_features(), statistics.weight());
}

std::vector<double> plain_sum_outputs(const RowStatistics& statistics) {
  return plain(statistics.sum_outputs(), statistics.origin_outputs(), statistics.weight());
}

std::vector<double> plain_sum_squared_outputs(const RowStatistics& statistics) {
  const auto b = statistics.origin_outputs(), s = statistics.sum_outputs();
  const auto t = plain_sum_outputs(statistics);
  std::vector<double> result(b.size());
  for (std::size_t j = 0; j < b.size(); ++j)
    result[j] = statistics.sum_squared_outputs()[j] + b[j] * (s[j] + t[j]);
  return result;
}

}  // namespace mercer::solver
