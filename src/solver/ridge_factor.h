// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// (Z'Z + n lambda I) = LL' for one lambda, and what can be had from L: weights, Tr H, scores of
// rows that were left out.
#pragma once

#include <span>

#include "solver/centering.h"
#include "solver/ridge.h"

namespace mercer::solver {

class RidgeFactor {
 public:
  /// In the statistics' own storage, by the jitter of ridge_cholesky, and with its errors.
  RidgeFactor(RowStatistics&& statistics, bool center, double lambda, Context& context);

  Weights weights(Context& context) const;
  /// Estimated, as ridge_cholesky_solution has it.
  double effective_dimension(Context& context) const;
  /// RidgePath::leave_one_out at this lambda, of `weights`, which are this factor's. O(rows D^2):
  /// H_ii = |L^{-1} (z_i - mean)|^2.
  Matrix<double> leave_one_out(const Weights& weights, MatrixView<const double> Z,
                               MatrixView<const double> Y, Context& context,
                               std::span<const double> row_weights = {}) const;

  /// L, lower, and the row that features are taken about.
  MatrixView<const double> factor() const noexcept { return statistics_.gram(); }
  const Means& means() const noexcept { return means_; }

 private:
  RowStatistics statistics_;  // L in the place of Z'Z
  bool center_;
  double shift_;  // n lambda
  Means means_;
};

}  // namespace mercer::solver
