// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression from row statistics (SPEC section 9): the path over lambda from one
// eigendecomposition, its leave-one-out, evidence and centring.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

// Ridge regression from row statistics (SPEC section 9): w = (Z'Z + n lambda I)^{-1} Z'Y, for every
// lambda from one symmetric eigendecomposition, or from a Cholesky factor per lambda. With
// centring, Z and Y are replaced by Z - mean, Y - mean (from the sums), and the intercept restores
// the means.

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
  /// The negative log marginal likelihood of each output, scaled as in ridge.h. noise: its
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
/// ridge_factor.h. O(16 D^2) more.
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

/// intercept = mean of y - w' mean of z.
std::vector<double> intercepts(const MeanRow& mean, MatrixView<const double> w);

/// n lambda. INVALID_ARGUMENT unless lambda is finite and >= 0 and the product is finite.
double checked_shift(double lambda, double n);

/// INVALID_ARGUMENT unless there is a row, and one of positive weight.
void require_rows(int64_t rows, const char* what);
void require_rows(const RowStatistics& statistics, const char* what);

// The marginal likelihood of ridge regression on a path of lambdas. With K = ZZ' + n lambda I, the
// best amplitude for each output and a flat prior on the intercept, which takes one degree,
//   f = 1/2 log(y'K^{-1}y) + 1/(2 m) log |K|, m = n - 1 (n without an intercept),
// is the negative log marginal likelihood divided by m, up to a constant (Rasmussen and Williams
// 2006, sections 2.7 and 5.4). K's eigenvalues are those of Z'Z or ZZ' plus n lambda.
// Outputs that are joined have one amplitude: y, all their targets less N in all degrees, is
// N(0, sigma^2 K), in nats N/2 log(y'K^{-1}y / N) + 1/2 log |K|. Of a metric Gamma = Q diag(g) Q'
// column j of YQ has K_j = g_j ZZ' + n lambda I.

class EvidenceSums {
 public:
  /// outside: the part of y'y that no eigenvector explains. shift: n lambda > 0. others: how many
  /// more eigenvalues K has than are added, all equal to shift; negative if K has fewer.
  EvidenceSums(std::span<const double> outside, double shift, double others)
      : determinant_(others * std::log(shift)) {
    for (const double rest : outside) quadratic_.push_back(rest / shift);
  }
  /// Adds eigenvalue s of Z'Z or ZZ', which contributes share c_o^2 to y'K^{-1}y of output o.
  void add(double s, const double* c, double shift, double share) {
    determinant_ += std::log(s + shift);
    for (std::size_t o = 0; o < quadratic_.size(); ++o) quadratic_[o] += share * c[o] * c[o];
  }
  /// f of each output; 0 for a constant output, which says nothing about lambda. noise: s^2 if it
  /// is known, by which the amplitude is s^2/shift instead of the best; else 0.
  std::vector<double> of(double degrees, double shift, double noise) const {
    std::vector<double> result;
    const double amplitude = noise / shift, determinant = determinant_ / (2 * degrees);
    for (const double q : quadratic_) {
      if (noise > 0) {
        result.push_back(q / (2 * degrees * amplitude) + determinant +
                         0.5 * std::log(2 * std::numbers::pi * amplitude));
      } else {
        result.push_back(q > 0 ? 0.5 * std::log(q) + determinant : 0.0);
      }
    }
    return result;
  }

 private:
  double determinant_;
  std::vector<double> quadratic_;
};

/// Of joined outputs, in nats.
class JointEvidence {
 public:
  /// outside: the part of y'y that no eigenvector explains; others: as above.
  JointEvidence(double outside, double shift, double others)
      : shift_(shift), determinant_(others * std::log(shift)), quadratic_(outside / shift) {}
  /// Adds K's eigenvalue g s + shift and its part of y'K^{-1}y.
  void add(double s, double g, double quadratic) {
    determinant_ += std::log(g * s + shift_);
    quadratic_ += quadratic;
  }
  /// 0 of constant outputs.
  double of(double degrees) const {
    return quadratic_ > 0 ? (degrees * std::log(quadratic_ / degrees) + determinant_) / 2 : 0;
  }

 private:
  double shift_, determinant_, quadratic_;
};

// The state of a RidgePath. Private to solver.

struct RidgePath::State {
  RowStatistics statistics;  // centred; gram() holds V', row i eigenvector i
  Means means;
  int64_t centered = 0;        // 1 when an intercept is fitted
  std::vector<double> values;  // eigenvalues s, ascending
  Matrix<double> projected{};  // c = V'Z'Y, D x outputs
  std::vector<double>
      outside{};          // per output: squared norm of the part of Y outside Z's column space
  double null_level = 0;  // eigenvalues up to this are rounding errors

  MatrixView<const double> vectors() const { return statistics.gram(); }
  int64_t features() const { return statistics.features(); }
  int64_t outputs() const { return statistics.outputs(); }

  /// 1/(s + n lambda), or 0 in a numerically null direction.
  double inverse(std::size_t i, double shift) const {
    return values[i] + shift > null_level ? 1 / (values[i] + shift) : 0;
  }
  /// n - Tr H, the intercept included, without cancellation: the sum of n lambda/(s + n lambda)
  /// plus the unused degrees.
  double residual_degrees(double shift) const;
  std::vector<double> residual_sum_of_squares(double shift) const;

  /// 1/(s + n lambda) for a combination, D x columns; and these times V'Z'Y M.
  Matrix<double> inverses(const Combination& of, Context& context) const;
  Matrix<double> filtered(const Combination& of, Context& context) const;

  struct LeftOut;
  LeftOut prepare_left_out(std::span<const double> lambdas, Context& context) const;
  template <class Targets>
  Matrix<double> left_out(const LeftOut& factors, MatrixView<const double> Z,
                          const Targets& targets, std::span<const double> weights,
                          Context& context) const;
};

/// M' of.
std::vector<double> combined(std::span<const double> of, MatrixView<const double> M);

}  // namespace mercer::solver
