// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sufficient statistics of ridge regression over blocks of rows: Z'Z, Z'Y, n, sums. Mergeable, removable; memory O(D^2).
#pragma once

#include <cstdint>
#include <span>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::solver {

class RowStatistics {
 public:
  RowStatistics(int64_t features, int64_t outputs);  // all zero

  int64_t features() const noexcept { return features_; }
  int64_t outputs() const noexcept { return outputs_; }
  int64_t rows() const noexcept { return rows_; }

  /// Adds (removes) the rows of a block: f32 blocks are widened, products and sums are double (dsyrk, dgemm). Y may be empty
  /// columns when outputs() == 0. Calls BLAS: calling thread only. Removing more rows than were added is INVALID_ARGUMENT.
  void add(MatrixView<const float> Z, MatrixView<const double> Y, Context& context);
  void add(MatrixView<const double> Z, MatrixView<const double> Y, Context& context);
  void remove(MatrixView<const float> Z, MatrixView<const double> Y, Context& context);
  void remove(MatrixView<const double> Z, MatrixView<const double> Y, Context& context);

  void merge(const RowStatistics& other);     // this += other
  void subtract(const RowStatistics& other);  // this -= other
  RowStatistics clone() const;                // copies are asked for by name: they cost 8 D^2 bytes

  /// D x D; only the lower triangle (column <= row) is kept up to date.
  MatrixView<const double> gram() const noexcept { return gram_.view(); }
  MatrixView<const double> cross() const noexcept { return cross_.view(); }  // Z'Y, D x outputs
  std::span<const double> sum_features() const noexcept;                     // column sums of Z
  std::span<const double> sum_outputs() const noexcept;                      // column sums of Y
  std::span<const double> sum_squared_outputs() const noexcept;              // column sums of Y^2

  /// The same numbers to be written: for file readers and solvers that work in place.
  struct Parts {
    int64_t& rows;
    MatrixView<double> gram, cross;
    std::span<double> sum_features, sum_outputs, sum_squared_outputs;
  };
  Parts parts() noexcept;

 private:
  int64_t features_;
  int64_t outputs_;
  int64_t rows_ = 0;
  Matrix<double> gram_, cross_;
  AlignedBuffer<double> sums_;     // features, outputs, outputs
  AlignedBuffer<double> scratch_;  // widened rows of a block
};

}  // namespace mercer::solver
