// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Means and standard deviations of columns over blocks of rows.
#pragma once

#include <span>
#include <vector>

#include "model/prepare/preparation.h"
#include "solver/reduction.h"

namespace mercer::model {

/// A deviation below this times a column's largest magnitude is rounding error.
inline constexpr double kConstantColumn = 1e-14;

class ColumnMoments {
 public:
  explicit ColumnMoments(int64_t columns);
  /// Adds rows, weighted or not: two passes about the block's mean, then a merge (Chan, Golub,
  /// LeVeque 1983), so that columns with a large offset lose no digits.
  void add(const Rows& block, std::span<const double> weights = {});
  /// Merges the moments of all processes. largest: each column's largest magnitude in any process.
  void reduce(solver::Reduction& reduction, std::span<const double> largest);
  int64_t rows() const noexcept { return rows_; }
  double weight() const noexcept { return weight_; }
  /// Means and deviations (divided by the sum of the weights). For sparse rows only scales: the
  /// root mean square distance of a column's stored non-zeros from its mean. For a full column this
  /// is its deviation; a rare column's entries become about 1, whereas dividing by its tiny
  /// deviation would let it outweigh all others.
  Preparation preparation() const;
  /// Root mean squares of the columns; for sparse rows over stored non-zeros.
  std::vector<double> root_mean_squares() const;

 private:
  struct Column {
    double mean = 0, squares = 0, largest = 0;  // squares: about the mean
    double listed = 0;                          // weight of the rows that list it
  };
  template <class T>
  std::vector<Column> of_block(const MatrixView<const T>& X, std::span<const double> weights) const;
  template <class T>
  std::vector<Column> of_block(const CsrView<T>& X, std::span<const double> weights) const;
  double listed_deviation(const Column& column) const;

  std::vector<Column> columns_;
  int64_t rows_ = 0;
  double weight_ = 0;
  bool sparse_ = false;
};

}  // namespace mercer::model
