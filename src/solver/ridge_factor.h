// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z'Z + n lambda I = LL' for one lambda, and from L weights, Tr H and leave-one-out residuals.
#pragma once

#include <span>

#include "solver/centering.h"
#include "solver/ridge.h"

namespace mercer::solver {

class RidgeFactor {
 public:
  /// Factors in the statistics' storage; jitter and errors as ridge_cholesky.
  RidgeFactor(RowStatistics&& statistics, bool center, double lambda, Context& context);

  Weights weights(Context& context) const;
  /// Estimated, as in ridge_cholesky_solution.
  double effective_dimension(Context& context) const;
  /// RidgePath::leave_one_out at this lambda; `weights` are this factor's. O(rows D^2): H_ii =
  /// |L^{-1} (z_i - mean)|^2.
  Matrix<double> leave_one_out(const Weights& weights, MatrixView<const double> Z,
                               MatrixView<const double> Y, Context& context,
                               std::span<const double> row_weights = {}) const;

  /// L (lower triangle), and the means that were subtracted.
  MatrixView<const double> factor() const noexcept { return statistics_.gram(); }
  const Means& means() const noexcept { return means_; }

 private:
  RowStatistics statistics_;  // L in place of Z'Z
  bool center_;
  double shift_;  // n lambda
  Means means_;
};

}  // namespace mercer::solver
