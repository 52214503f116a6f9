// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "row_losses.h"

#include <cmath>

namespace mercer::cli {

namespace {

// A target that a row lacks adds nothing, and the squares of others count for more by as much.
void add_squares(const Matrix<double>& predicted, const Dataset& data, int64_t k,
                 std::vector<double>* losses) {
  std::vector<double> squares, weights;
  for (int64_t i = 0; i < data.n; ++i) {
    const double y = data.Y[static_cast<size_t>(i * data.m + k)];
    const double weight = data.weights.empty() ? 1 : data.weights[static_cast<size_t>(i)];
    squares.push_back(std::isnan(y) ? 0 : y);
    weights.push_back(std::isnan(y) ? 0 : weight);
  }
  const double mean = mean_of(squares, weights).value;
  for (size_t i = 0; i < squares.size(); ++i)
    squares[i] = weights[i] > 0 ? std::pow(squares[i] - mean, 2) : 0;
  const double variance = mean_of(squares, data.weights).value * static_cast<double>(data.m);
  for (int64_t i = 0; i < data.n; ++i) {
    const double error = predicted(i, k) - data.Y[static_cast<size_t>(i * data.m + k)];
    if (!std::isnan(error)) (*losses)[static_cast<size_t>(i)] += error * error / variance;
  }
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
