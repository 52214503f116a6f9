// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fewer rows than features: weights of least norm lie in the span of the rows, so a penalised fit
// in coordinates of that span is the same fit (Kimeldorf and Wahba 1971). With ZZ' = Q diag(s) Q'
// rows have coordinates Q s^{1/2}; coefficients u become weights Z'Q s^{-1/2} u of equal norm.
#pragma once

#include <memory>

#include "solver/block_source.h"
#include "solver/ridge.h"

namespace mercer::solver {

class RowSpace {
 public:
  /// Whether it pays: n <= D / 2, one process, no kernel columns, and room for n D + 3 n^2 numbers.
  static bool pays(const BlockSource& rows, const Context& context);
  /// The rows are referred to. Where it does not pay, coordinates are the features. O(n^2 D + n^3).
  RowSpace(const BlockSource& rows, Context& context);

  bool reduces() const noexcept { return reduced_ != nullptr; }
  /// The rows with coordinates for features, in subsets too.
  const BlockSource& rows() const noexcept { return reduces() ? *reduced_ : rows_; }
  /// Weights of features from weights of coordinates. One pass.
  Weights weights(Weights u, Context& context) const;
  /// Orthonormal columns R with z = R c for each row, features x coordinates. One pass.
  Matrix<double> basis(Context& context) const;

 private:
  Matrix<double> lifted(MatrixView<const double> u, Context& context) const;

  const BlockSource& rows_;
  std::unique_ptr<BlockSource> reduced_;
  Matrix<double> dual_;  // n x r: Q s^{-1/2}
};

}  // namespace mercer::solver
