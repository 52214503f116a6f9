// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Further passes over the rows, once the sums are known: features less their means, of the columns
// of this process row and of a share of each block for each process column, and products with them.
// Vectors of D numbers are then divided: each process has those at its process row's places, a
// column for each of several vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "normal_sums.h"
#include "processes.h"

namespace mercer::scalapack {

class CenteredRows {
 public:
  /// Rows of a block, from `first` on, and for each their products with the vectors.
  using Products = std::function<void(int64_t first, int64_t count, std::vector<double>& products)>;

  /// Refers to all of them.
  CenteredRows(Processes& all, SharedRows& rows, NormalSums& sums, const mercer_map* map,
               mercer_context* context, Progress& progress)
      : all_(all), rows_(rows), sums_(sums), map_(map), context_(context), progress_(progress) {}

  Processes& all() const noexcept { return all_; }
  const NormalSums& sums() const noexcept { return sums_; }
  const SharedRows& rows() const noexcept { return rows_; }
  const Grid& grid() const noexcept { return sums_.cross.grid(); }
  Progress& progress() const noexcept { return progress_; }
  /// Numbers of a vector that this process has.
  int64_t own() const noexcept { return sums_.cross.local_rows(); }
  /// Of those above 0 the mean is 1.
  double weight(int64_t row) const noexcept {
    return rows_.row(row)[rows_.width() - 1] / sums_.y.weight * static_cast<double>(sums_.y.rows);
  }

  /// Before the first pass: means of features less NormalSums::origin.
  void center(const std::vector<double>& means);
  /// A pass over every `stride`-th block, a row of which is `work` for the progress.
  void multiply(const std::vector<double>& vectors, int64_t count, double work, int64_t stride,
                const Products& done);
  struct Product {
    std::vector<double> vectors;
    double share;  // of all weights
  };
  /// Z'Z times vectors, of these blocks.
  Product normal_product(const std::vector<double>& vectors, int64_t count, int64_t stride = 1);
  /// Of each pair of vectors, the same bits in all processes.
  std::vector<double> dots(const std::vector<double>& a, const std::vector<double>& b,
                           int64_t count) const;

 private:
  Processes& all_;
  SharedRows& rows_;
  NormalSums& sums_;
  const mercer_map* map_;
  mercer_context* context_;
  Progress& progress_;
};

}  // namespace mercer::scalapack
