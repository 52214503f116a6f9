// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression from row statistics (SPEC section 9): w = (Z'Z + n lambda I)^{-1} Z'Y, for every lambda from one
// symmetric eigendecomposition, or from a Cholesky factor per lambda. With centring, Z and Y are replaced by Z - mean,
// Y - mean (from the sums), and the intercept restores the means.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

struct Weights {
  Matrix<double> w;               // D x outputs
  std::vector<double> intercept;  // outputs; zeros without centring
};

/// Every lambda >= 0 (lambda = 0: the minimum-norm solution) at O(D^2 outputs) each after an O(D^3) eigendecomposition.
class RidgePath {
 public:
  /// Takes the statistics over and decomposes in place: peak memory stays below 3 x 8 D^2 bytes.
  RidgePath(RowStatistics&& statistics, bool center, Context& context);
  ~RidgePath();
  RidgePath(RidgePath&&) noexcept;

  int64_t features() const noexcept;
  int64_t outputs() const noexcept;
  int64_t rows() const noexcept;
  std::span<const double> eigenvalues() const noexcept;  // of Z'Z (centred), ascending, >= 0 after clipping

  Weights solve(double lambda) const;
  /// Tr H = sum s/(s + n lambda); one more for the intercept when centred.
  double effective_dimension(double lambda) const;
  /// n RSS / (n - Tr H)^2 per output (Golub, Heath, Wahba 1979).
  std::vector<double> gcv(double lambda) const;
  /// Mean squared error per output on held-out rows given as statistics (full gram needed: O(D^2 outputs)).
  std::vector<double> held_out_error(double lambda, const RowStatistics& held_out) const;
  /// (y - Zw)_i / (1 - H_ii) for training rows given as a block: n x outputs. n lambda stays fixed when a row is left out.
  Matrix<double> leave_one_out(double lambda, MatrixView<const double> Z, MatrixView<const double> Y) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One lambda by Cholesky, O(D^3/3), in place. Escalates jitter from 1e-15 to 1e-9 of the mean diagonal, then
/// NOT_POSITIVE_DEFINITE naming the pivot. lambda >= 0.
Weights ridge_cholesky(RowStatistics&& statistics, bool center, double lambda, Context& context);

/// The dual for n < D: alpha = (Z Z' + n lambda I)^{-1} Y, w = Z' alpha; O(n^2 D + n^3). Same centring.
Weights ridge_dual(MatrixView<const double> Z, MatrixView<const double> Y, bool center, double lambda,
                   Context& context);

/// Mean squared error per output of given weights on rows given as statistics.
std::vector<double> mean_squared_error(const Weights& weights, const RowStatistics& statistics);

/// Mean over all rows of the squared error of each lambda, per output, every fold predicted by a fit on the others: fold
/// statistics are subtracted from their total. Each fit uses its own n. Result: lambdas x outputs.
Matrix<double> kfold_error(std::span<const RowStatistics> folds, bool center, std::span<const double> lambdas,
                           Context& context);

/// lambdas geometrically spaced from `largest` down to `smallest`.
std::vector<double> lambda_grid(double largest, double smallest, int64_t count);

}  // namespace mercer::solver
