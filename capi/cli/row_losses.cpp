// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "row_losses.h"

#include <cmath>

namespace mercer::cli {

namespace {

void add_squares(const Matrix<double>& predicted, const Dataset& data, int64_t k,
                 std::vector<double>* losses) {
  const auto target = [&](int64_t i) { return data.Y[static_cast<size_t>(i * data.m + k)]; };
  std::vector<double> squares;
  for (int64_t i = 0; i < data.n; ++i) squares.push_back(target(i));
  const double mean = mean_of(squares, data.weights).value;
  for (double& y : squares) y = (y - mean) * (y - mean);
  const double variance = mean_of(squares, data.weights).value;
  for (int64_t i = 0; i < data.n; ++i)
    (*losses)[static_cast<size_t>(i)] +=
        std::pow(predicted(i, k) - target(i), 2) / variance / static_cast<double>(data.m);
}

}  // namespace

std::vector<double> row_losses(const Matrix<double>& predicted, const Dataset& data, int64_t K) {
  std::vector<double> losses(static_cast<size_t>(data.n), 0.0);
  if (K == 0) {
    for (int64_t k = 0; k < data.m; ++k) add_squares(predicted, data, k, &losses);
    return losses;
  }
  const std::vector<int32_t> classes = classes_of(predicted.view());
  for (size_t i = 0; i < losses.size(); ++i) losses[i] = classes[i] == data.Y[i] ? 0 : 1;
  return losses;
}

// Of a weighted mean sum w_i x_i / W: the root of sum w_i^2 (x_i - mean)^2 / W^2, and n / (n - 1)
// of that.
MeanOfRows mean_of(const std::vector<double>& numbers, const std::vector<double>& weights) {
  const auto weight = [&](size_t i) { return weights.empty() ? 1 : weights[i]; };
  const auto n = static_cast<double>(numbers.size());
  double sum = 0, total = 0, squares = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    sum += weight(i) * numbers[i];
    total += weight(i);
  }
  MeanOfRows mean{sum / total, 0};
  for (size_t i = 0; i < numbers.size(); ++i)
    squares += std::pow(weight(i) * (numbers[i] - mean.value), 2);
  mean.standard_error = std::sqrt(squares * n / (n - 1)) / total;
  return mean;
}

}  // namespace mercer::cli
