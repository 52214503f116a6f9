// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression from row statistics (SPEC section 9): w = (Z'Z + n lambda I)^{-1} Z'Y, for every
// lambda from one symmetric eigendecomposition, or from a Cholesky factor per lambda. With
// centring, Z and Y are replaced by Z - mean, Y - mean (from the sums), and the intercept restores
// the means.
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

/// Targets Y M, column j with its own lambda; infinity: the intercept alone.
struct Combination {
  MatrixView<const double> M;  // outputs x columns
  std::span<const double> lambdas;
};

/// If 1 - H_ii is below this, the residual of row i is rounding error.
inline constexpr double kInterpolates = 1e-8;

/// Eigenvectors of Z'Z, the largest eigenvalue first.
struct Directions {
  Weights weights;  // D x count, the scores of centred features
  Weights targets;  // count x outputs: the eigenvectors' products with Z'Y, and the means of Y
  std::vector<double> counts = {};  // rows per kernel column; empty for features
};

/// Every lambda >= 0 (0: the minimum-norm solution) at O(D^2 outputs) each, after an O(D^3)
/// eigendecomposition.
class RidgePath {
 public:
  /// Takes over the statistics and decomposes in place: peak memory is 2.5 x 8 D^2 bytes, the
  /// statistics' own included, then 8 D^2. Errors: no rows (INVALID_ARGUMENT), and those of
  /// linalg::symmetric_eigen.
  RidgePath(RowStatistics&& statistics, bool center, Context& context);
  ~RidgePath();
  RidgePath(RidgePath&&) noexcept;

  /// The least memory for `held` statistics of this shape while one of them is decomposed:
  /// 8 (held + 1) D^2 + O(D) bytes.
  static int64_t least_bytes(int64_t features, int64_t outputs, int64_t held = 1);

  int64_t features() const noexcept;
  int64_t outputs() const noexcept;
  int64_t rows() const noexcept;
  double weight() const noexcept;  // n of the formulas: the sum of the rows' weights
  std::span<const double> eigenvalues()
      const noexcept;         // of Z'Z (centred), ascending, >= 0 after clipping
  double null_level() const;  // eigenvalues up to this are rounding errors
  Directions directions(int64_t count, Context& context) const;  // of the largest eigenvalues

  /// Drops directions whose s + n lambda is below eps D times the scale of Z'Z: lambda = 0 is the
  /// minimum-norm solution. lambda: finite, >= 0, else INVALID_ARGUMENT (here and below).
  Weights solve(double lambda) const;
  /// DIMENSION_MISMATCH unless there are as many lambdas as columns (here and below).
  Weights solve(const Combination& of, Context& context) const;
  /// Tr H = sum s/(s + n lambda); one more for the intercept when centred.
  double effective_dimension(double lambda) const;
  /// z_j'(ZZ' + n lambda I)^{-1} z_j of each feature, the diagonal of Z'Z (Z'Z + n lambda I)^{-1};
  /// its sum is Tr H without the intercept. O(D^2).
  std::vector<double> leverage(double lambda) const;
  /// n RSS / (n - Tr H)^2 per output (Golub, Heath, Wahba 1979); infinite where the fit
  /// interpolates, n - Tr H <= 1e-8 n.
  std::vector<double> gcv(double lambda) const;
  /// The negative log marginal likelihood of each output, scaled as in evidence.h. noise: its
  /// variance for a row of weight 1, if it is known.
  std::vector<double> evidence(double lambda, double noise = 0) const;
  /// Of targets Y M, column j of covariance g_j ZZ' + n lambda I for its lambda / g_j, of one
  /// amplitude, in nats; M M' is diagonal.
  double evidence(const Combination& of, double lambda) const;
  /// Mean squared error per output on held-out rows given as statistics (full gram needed: O(D^2
  /// outputs)).
  std::vector<double> held_out_error(double lambda, const RowStatistics& held_out) const;
  /// Leave-one-out residuals (y - Zw)_i / (1 - H_ii) of a block of training rows, rows x outputs,
  /// with n lambda kept and the intercept refitted; infinite where 1 - H_ii <= 1e-8. A row's weight
  /// is a factor of H_ii: the whole row is left out.
  Matrix<double> leave_one_out(double lambda, MatrixView<const double> Z,
                               MatrixView<const double> Y, Context& context,
                               std::span<const double> weights = {}) const;
  /// For many lambdas after one O(rows D^2) product: rows x (lambdas times outputs), all outputs of
  /// the first lambda first.
  Matrix<double> leave_one_out(std::span<const double> lambdas, MatrixView<const double> Z,
                               MatrixView<const double> Y, Context& context,
                               std::span<const double> weights = {}) const;
  /// For a combination: rows x columns.
  Matrix<double> leave_one_out(const Combination& of, MatrixView<const double> Z,
                               MatrixView<const double> Y, Context& context,
                               std::span<const double> weights = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Weights at one lambda and Tr H there, one more for the intercept.
struct Solution {
  Weights weights;
  double effective_dimension = 0;
};

/// One lambda by Cholesky, O(D^3/3), in place. Raises jitter from 1e-15 to 1e-9 of the mean
/// diagonal, then NOT_POSITIVE_DEFINITE naming the pivot. lambda = 0, the minimum-norm solution: by
/// RidgePath.
Weights ridge_cholesky(RowStatistics&& statistics, bool center, double lambda, Context& context);
/// With an estimate of Tr H whose relative standard deviation is below 0.36 / sqrt(Tr H):
/// inverse_trace.h. O(16 D^2) more.
Solution ridge_cholesky_solution(RowStatistics&& statistics, bool center, double lambda,
                                 Context& context);

/// The dual for n < D: alpha = (Z Z' + n lambda I)^{-1} Y, w = Z' alpha; O(n^2 D + n^3). Same
/// centring. n lambda below eps n Tr ZZ' (lambda = 0) is the minimum-norm solution, by an
/// eigendecomposition.
Weights ridge_dual(MatrixView<const double> Z, MatrixView<const double> Y, bool center,
                   double lambda, Context& context);

/// Mean squared error per output of given weights on at least one row given as statistics: sum y^2
/// - 2 w'b + w'Gw about the origin. Its absolute error is a few eps times the variance of y.
std::vector<double> mean_squared_error(const Weights& weights, const RowStatistics& statistics);

/// A geometric grid of lambdas from `largest` down to `smallest`, both included (count = 1:
/// `largest`).
std::vector<double> lambda_grid(double largest, double smallest, int64_t count);

}  // namespace mercer::solver
