// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Means and deviations of columns over blocks of rows.
#pragma once

#include <span>
#include <vector>

#include "model/model.h"

namespace mercer::model {

class ColumnMoments {
 public:
  explicit ColumnMoments(int64_t columns);
  /// Adds a block's rows, with a weight each or none: in two passes about the block's own mean,
  /// then joined with what was there (Chan, Golub, LeVeque 1983), so that columns with a large
  /// offset keep their digits.
  void add(const Rows& block, std::span<const double> weights = {});
  int64_t rows() const noexcept { return rows_; }
  double weight() const noexcept { return weight_; }
  /// Means and deviations, which divide by the sum of the weights; after a sparse block deviations
  /// alone.
  Standardizer standardizer() const;

 private:
  struct Column {
    double mean = 0, squares = 0, largest = 0;  // squares: about the mean
  };
  template <class T>
  std::vector<Column> of_block(const MatrixView<const T>& X, std::span<const double> weights) const;
  template <class T>
  std::vector<Column> of_block(const CsrView<T>& X, std::span<const double> weights) const;

  std::vector<Column> columns_;
  int64_t rows_ = 0;
  double weight_ = 0;
  bool sparse_ = false;
};

}  // namespace mercer::model
