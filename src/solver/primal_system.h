// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression from row statistics, w = (Z'Z + n lambda I)^{-1} Z'Y: for every
// lambda from one symmetric eigendecomposition, or from a Cholesky factor per lambda. With
// centring, Z and Y are replaced by Z - mean, Y - mean (from the sums), and the intercept restores
// the means.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "solver/ridge_system.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

// Centring by sums alone: the statistics of Z - mean and Y - mean without another pass over the
// rows. Private to solver.

struct Means {
  MeanRow row;          // of features and outputs; zeros without centring
  double distance = 0;  // squared, from the statistics' origin to the features' mean
};

/// Replaces Z'Z, Z'Y and sum y^2 by the sums about the mean, or about zero without `center`, and
/// returns the means. Centring leaves errors of eps n distance in the eigenvalues. Of complex
/// features Z'Z becomes the real form of Z^H Z, whose solution has Re w and -Im w in turn: then
/// Re(z w) is a real product.
/// INVALID_ARGUMENT for sums that are not finite.
Means center_in_place(RowStatistics& statistics, bool center);

/// Every lambda >= 0 (0: the minimum-norm solution) at O(D^2 outputs) each, after an O(D^3)
/// eigendecomposition.
class PrimalSystem final : public RidgeSystem {
 public:
  /// Takes over the statistics and decomposes in place: peak memory is 2.5 x 8 D^2 bytes, the
  /// statistics' own included, then 8 D^2. Errors: no rows (INVALID_ARGUMENT), and those of
  /// linalg::symmetric_eigen.
  PrimalSystem(RowStatistics&& statistics, bool center, Context& context);

  /// The least memory for statistics of this shape while they are decomposed: 16 D^2 + O(D) bytes.
  static int64_t least_bytes(int64_t features, int64_t outputs);

  int64_t features() const noexcept { return statistics_.features(); }
  int64_t outputs() const noexcept { return statistics_.outputs(); }
  int64_t rows() const noexcept { return statistics_.rows(); }
  /// n of the formulas: the sum of the rows' weights.
  double weight() const noexcept { return statistics_.weight(); }
  /// Of Z'Z (centred), ascending, >= 0 after clipping.
  std::span<const double> eigenvalues() const noexcept { return values_; }
  double null_level() const;  // eigenvalues up to this are rounding errors
  Directions directions(int64_t count, Context& context) const;  // of the largest eigenvalues

  /// Drops directions whose s + n lambda is below eps D times the scale of Z'Z: lambda = 0 is the
  /// minimum-norm solution.
  Weights solve(double lambda) const;
  using RidgeSystem::solve;
  Solution solution(double lambda, Want want, Context& context) const override;
  double effective_dimension(double lambda) const override;
  /// z_j'(ZZ' + n lambda I)^{-1} z_j of each feature, the diagonal of Z'Z (Z'Z + n lambda I)^{-1};
  /// its sum is Tr H without the intercept. O(D^2).
  std::vector<double> leverage(double lambda) const;
  std::vector<double> gcv(double lambda) const override;
  std::vector<double> evidence(double lambda, double noise = 0) const override;
  /// Mean squared error per output on held-out rows given as statistics (full gram needed: O(D^2
  /// outputs)).
  std::vector<double> held_out_error(double lambda, const RowStatistics& held_out) const;
  /// O(rows D^2) for all lambdas together. A row's weight is a factor of H_ii: the whole row is
  /// left out. DIMENSION_MISMATCH for a block of another shape.
  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override;

  // Of a combination of the outputs: column j has its own lambda.
  Weights solve(const Combination& of, Context& context) const;
  /// Column j has the covariance g_j ZZ' + n lambda I for its lambda / g_j, and all one amplitude,
  /// in nats; M M' is diagonal.
  double evidence(const Combination& of, double lambda) const;
  /// rows x columns.
  Matrix<double> leave_one_out(const Combination& of, const WideBlock& block,
                               Context& context) const;

 private:
  /// Factors of the columns of residuals in the eigenbasis.
  struct LeftOut {
    Matrix<double> inverses;      // 1/(s + n lambda): D x lambdas
    Matrix<double> coefficients;  // inverses times c: D x columns
    int64_t each;                 // adjacent columns that share a lambda
  };

  MatrixView<const double> vectors() const { return statistics_.gram(); }
  /// 1/(s + n lambda), or 0 in a numerically null direction.
  double inverse(std::size_t i, double shift) const {
    return values_[i] + shift > null_level_ ? 1 / (values_[i] + shift) : 0;
  }
  /// n - Tr H, the intercept included, without cancellation: the sum of n lambda/(s + n lambda)
  /// plus the unused degrees.
  double residual_degrees(double shift) const;
  std::vector<double> residual_sum_of_squares(double shift) const;
  /// 1/(s + n lambda) for a combination, D x columns; and these times V'Z'Y M.
  Matrix<double> inverses(const Combination& of, Context& context) const;
  Matrix<double> filtered(const Combination& of, Context& context) const;
  LeftOut prepare_left_out(std::span<const double> lambdas, Context& context) const;
  template <class Targets>
  Matrix<double> left_out(const LeftOut& factors, const WideBlock& block, const Targets& targets,
                          Context& context) const;

  RowStatistics statistics_;  // centred; gram() holds V', row i eigenvector i
  Means means_;
  int64_t centered_;            // 1 when an intercept is fitted
  std::vector<double> values_;  // eigenvalues s, ascending
  Matrix<double> projected_;    // c = V'Z'Y, D x outputs
  std::vector<double>
      outside_;            // per output: squared norm of the part of Y outside Z's column space
  double null_level_ = 0;  // eigenvalues up to this are rounding errors
};

/// Z'Z + n lambda I = LL' for one lambda > 0, and from L the solution there.
class RidgeFactor final : public RidgeSystem {
 public:
  /// Factors in the statistics' storage; jitter and errors as ridge_cholesky.
  RidgeFactor(RowStatistics&& statistics, bool center, double lambda, Context& context);

  int64_t outputs() const noexcept { return statistics_.outputs(); }
  /// Tr H is an estimate whose relative standard deviation is below 0.36 / sqrt(Tr H). O(16 D^2)
  /// more.
  Solution solution(double lambda, Want want, Context& context) const override;
  Solution solve_leaving_out(const BlockSource& rows, double lambda, Context& context,
                             const LeftOutRow& body) override;
  Weights weights(Context& context) const;
  double effective_dimension(Context& context) const;

  /// `weights` are this factor's. O(rows D^2): H_ii = |L^{-1} (z_i - mean)|^2.
  Matrix<double> leave_one_out(const Weights& weights, const WideBlock& block,
                               Context& context) const;

  /// L (lower triangle), and the means that were subtracted.
  MatrixView<const double> factor() const noexcept { return statistics_.gram(); }
  const Means& means() const noexcept { return means_; }

 private:
  using RidgeSystem::effective_dimension, RidgeSystem::leave_one_out;
  void require_own(double lambda) const;

  RowStatistics statistics_;  // L in place of Z'Z
  bool center_;
  double lambda_, shift_;  // n lambda
  Means means_;
};

/// One lambda by Cholesky, O(D^3/3), in place. Raises jitter from 1e-15 to 1e-9 of the mean
/// diagonal, then NOT_POSITIVE_DEFINITE naming the pivot. lambda = 0, the minimum-norm solution: by
/// PrimalSystem.
Weights ridge_cholesky(RowStatistics&& statistics, bool center, double lambda, Context& context);

/// Mean squared error per output of given weights on at least one row given as statistics: sum y^2
/// - 2 w'b + w'Gw about the origin. Its absolute error is a few eps times the variance of y.
std::vector<double> mean_squared_error(const Weights& weights, const RowStatistics& statistics);

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
