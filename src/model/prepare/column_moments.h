// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Means and deviations of columns over blocks of rows.
#pragma once

#include <span>
#include <vector>

#include "model/prepare/preparation.h"
#include "solver/reduction.h"

namespace mercer::model {

/// Of the largest number: a deviation below it is rounding.
inline constexpr double kConstantColumn = 1e-14;

class ColumnMoments {
 public:
  explicit ColumnMoments(int64_t columns);
  /// Adds a block's rows, with a weight each or none: in two passes about the block's own mean,
  /// then joined with what was there (Chan, Golub, LeVeque 1983), so that columns with a large
  /// offset keep their digits.
  void add(const Rows& block, std::span<const double> weights = {});
  /// Of the rows of all processes: sums about their common mean. largest: of each column's numbers,
  /// in any process.
  void reduce(solver::Reduction& reduction, std::span<const double> largest);
  int64_t rows() const noexcept { return rows_; }
  double weight() const noexcept { return weight_; }
  /// Means and deviations, which divide by the sum of the weights. After a sparse block scales
  /// alone: the root mean square distance of a column's listed numbers, not of its zeros, from its
  /// mean. That of a full column is its deviation; a rare one's numbers become about 1, where its
  /// deviation, which is about as small as it is rare, would let it outweigh all others.
  Preparation preparation() const;
  /// Of the columns; after a sparse block of their listed numbers alone.
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
