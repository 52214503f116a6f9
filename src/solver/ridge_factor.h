// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Cholesky factors of ridge for one lambda: weights, Tr H, leave-one-out, with jitter where they
// need it.
#pragma once

#include <span>

#include "base/context.h"
#include "base/views.h"
#include "solver/ridge.h"

namespace mercer::solver {

// Z'Z + n lambda I = LL' for one lambda, and from L weights, Tr H and leave-one-out residuals.

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

// Cholesky factorisation that survives a semidefinite matrix. Private to solver.

/// A + jitter I = L L' in the lower triangle of A; the upper one is scratch. jitter is the first of
/// 0, 1e-15, 1e-14, ... 1e-9 times the mean diagonal that works; else NOT_POSITIVE_DEFINITE naming
/// the pivot.
void jittered_cholesky(MatrixView<double> A, Context& context);

// Tr A^{-1} from a Cholesky factor: exact for small A, else by random probes (Hutchinson 1990).

/// The sum of |L^{-1}e_j|^2 up to D = 256; above, the mean of v'A^{-1}v = |L^{-1}v|^2 over 16 fixed
/// sign vectors v: unbiased, with variance 2/16 of the sum of squares off the diagonal of A^{-1}.
/// L: the lower triangle of A = L L'. O(16 D^2).
double inverse_trace(MatrixView<const double> L, Context& context);
/// |L^{-1}|^2 itself: where what is left of a difference counts. D^3/3.
double exact_inverse_trace(MatrixView<const double> L, Context& context);

}  // namespace mercer::solver
