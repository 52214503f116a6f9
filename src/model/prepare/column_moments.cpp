// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "model/prepare/column_moments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "solver/row_weights.h"

namespace mercer::model {
namespace {

double weight_of(std::span<const double> weights, int64_t row) {
  return weights.empty() ? 1.0 : weights[row];
}

}  // namespace

ColumnMoments::ColumnMoments(int64_t columns) : columns_(static_cast<size_t>(columns)) {}

template <class T>
std::vector<ColumnMoments::Column> ColumnMoments::of_block(const MatrixView<const T>& X,
                                                           std::span<const double> weights) const {
  std::vector<Column> block(columns_.size());
  const double n = solver::total_weight(weights, X.rows);
  for (int64_t i = 0; i < X.rows; ++i) {
    const double weight = weight_of(weights, i);
    for (size_t j = 0; j < block.size() && weight > 0; ++j) {
      const double x = X.row(i)[j];
      block[j].mean += weight * x / n;
      block[j].largest = std::max(block[j].largest, std::abs(x));
    }
  }
  std::vector<double> rest(block.size(), 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    const double weight = weight_of(weights, i);
    for (size_t j = 0; j < block.size(); ++j) {
      const double difference = static_cast<double>(X.row(i)[j]) - block[j].mean;
      block[j].squares += weight * difference * difference;
      rest[j] += weight * difference;
    }
  }
  for (size_t j = 0; j < block.size(); ++j) {
    block[j].mean += rest[j] / n;
    block[j].listed = n;
    block[j].squares = std::max(0.0, block[j].squares - rest[j] * rest[j] / n);
  }
  return block;
}

/// Adds the zeros of a sparse column: if k of n rows (by weight) are non-zero, with mean m and sum
/// of squares S about it, the column's mean is m k/n and its sum of squares S + m^2 k (1 - k/n).
template <class T>
std::vector<ColumnMoments::Column> ColumnMoments::of_block(const CsrView<T>& X,
                                                           std::span<const double> weights) const {
  std::vector<Column> block(columns_.size());
  std::vector<double> row(block.size(), 0.0), count(block.size(), 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    for_each_listed(X, i, [&](int64_t j, T value) { row[j] += value; });
    const double weight = weight_of(weights, i);
    for_each_listed(X, i, [&](int64_t j, T) {
      Column& column = block[j];
      double& k = count[j];
      const double x = std::exchange(row[j], 0.0);  // duplicates count once
      if (x == 0 || weight == 0) return;
      const double before = x - column.mean;
      k += weight;
      column.mean += weight * before / k;
      column.squares += weight * before * (x - column.mean);
      column.largest = std::max(column.largest, std::abs(x));
    });
  }
  const double n = solver::total_weight(weights, X.rows);
  for (size_t j = 0; j < block.size(); ++j) {
    const double share = count[j] / n, mean = block[j].mean;
    block[j].squares += mean * mean * count[j] * (1 - share);
    block[j].mean = mean * share;
    block[j].listed = count[j];
  }
  return block;
}

void ColumnMoments::add(const Rows& rows, std::span<const double> weights) {
  rows_ += rows.rows();
  sparse_ = sparse_ || rows.sparse();
  const double before = weight_, added = solver::total_weight(weights, rows.rows());
  if (added == 0) return;
  const std::vector<Column> block = rows.visit([&](const auto& X) { return of_block(X, weights); });
  const double total = before + added;
  for (size_t j = 0; j < columns_.size(); ++j) {
    Column& column = columns_[j];
    const double difference = block[j].mean - column.mean;
    column.mean = before == 0 ? block[j].mean : column.mean + difference * (added / total);
    column.squares += block[j].squares + difference * difference * (before * added / total);
    column.largest = std::max(column.largest, block[j].largest);
    column.listed += block[j].listed;
  }
  weight_ = total;
}

void ColumnMoments::reduce(solver::Reduction& reduction, std::span<const double> largest) {
  std::vector<double> sums = {static_cast<double>(rows_), weight_, sparse_ ? 1.0 : 0.0};
  for (const Column& column : columns_) sums.push_back(weight_ * column.mean);
  reduction.sum(sums);
  const double own = weight_;
  rows_ = static_cast<int64_t>(sums[0]);
  weight_ = sums[1];
  sparse_ = sums[2] > 0;
  std::vector<double> squares;
  for (size_t j = 0; j < columns_.size(); ++j) {
    const double mean = weight_ > 0 ? sums[3 + j] / weight_ : 0, apart = columns_[j].mean - mean;
    squares.insert(squares.end(), {columns_[j].squares + own * apart * apart, columns_[j].listed});
    columns_[j].mean = mean;
    columns_[j].largest = largest[j];
  }
  reduction.sum(squares);
  for (size_t j = 0; j < columns_.size(); ++j) {
    columns_[j].squares = squares[2 * j];
    columns_[j].listed = squares[2 * j + 1];
  }
}

/// The root mean square distance of stored non-zeros from the column's mean.
double ColumnMoments::listed_deviation(const Column& column) const {
  if (column.listed == 0) return 0;
  const double zeros = std::max(0.0, weight_ - column.listed) * column.mean * column.mean;
  return std::sqrt(std::max(0.0, column.squares - zeros) / column.listed);
}

Preparation ColumnMoments::preparation() const {
  Preparation result{std::vector<double>(columns_.size(), 0.0),
                     std::vector<double>(columns_.size(), 1.0)};
  const double n = weight_ > 0 ? weight_ : 1;
  for (size_t j = 0; j < columns_.size(); ++j) {
    const double deviation =
        sparse_ ? listed_deviation(columns_[j]) : std::sqrt(columns_[j].squares / n);
    if (!sparse_) result.mean[j] = columns_[j].mean;
    if (deviation > kConstantColumn * columns_[j].largest) result.scale[j] = deviation;
  }
  return result;
}

std::vector<double> ColumnMoments::root_mean_squares() const {
  std::vector<double> sizes;
  const double n = weight_ > 0 ? weight_ : 1;
  for (const Column& column : columns_) {
    const double about_zero = std::hypot(column.mean, std::sqrt(column.squares / n));
    const double share = sparse_ && column.listed > 0 ? column.listed / n : 1;
    sizes.push_back(about_zero / std::sqrt(share));
  }
  return sizes;
}

}  // namespace mercer::model
