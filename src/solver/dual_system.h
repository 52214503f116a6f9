// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge in its dual form, for fewer rows than features or with a kernel's own values.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "solver/ridge.h"

namespace mercer::solver {

// Ridge in its dual form for fewer rows than features: K = Z Z' (n x n), f(x) = z(x)'Z'alpha +
// intercept; or with a kernel's values for K, f(x) = k(x, rows) alpha + intercept. With centring K
// is replaced by (I - 11'/n) K (I - 11'/n), the Gram matrix of centred features.

/// Values of a kernel (n x n), and the column of each row among the `features` columns.
struct KernelMatrix {
  Matrix<double> K;
  std::vector<int64_t> columns;
  int64_t features;
};

class DualSystem {
 public:
  /// Takes over the features (n x D), targets (n x outputs) and weights (n, or none). O(n^2 D).
  DualSystem(Matrix<double> Z, Matrix<double> Y, std::vector<double> weights, bool center,
             Context& context);
  /// From a kernel matrix. O(n^2).
  DualSystem(KernelMatrix kernel, Matrix<double> Y, std::vector<double> weights, bool center,
             Context& context);

  int64_t rows() const noexcept { return Y_.rows(); }
  int64_t outputs() const noexcept { return Y_.cols(); }
  /// n of the formulas: the sum of the rows' weights.
  double weight() const noexcept { return n_; }
  /// The targets that were passed, not centred.
  MatrixView<const double> targets() const noexcept { return targets_.view(); }
  double weight_of(int64_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  /// alpha by Cholesky, O(n^3 / 3), with the jitter of kernel_ridge.
  Weights solve(double lambda, Context& context) const;
  /// Also writes leave_one_out at lambda to `residuals`, from (K + n lambda I)^{-1}: n^3 more. At
  /// lambda = 0 decomposes K.
  Weights solve(double lambda, Context& context, Matrix<double>& residuals);
  /// With an estimate of Tr H, as ridge_cholesky_solution.
  Solution solution(double lambda, Context& context) const;

  /// K = U diag(s) U' for gcv and leave_one_out, which need it: O(n^3), once.
  void decompose(Context& context);
  /// After decompose, as in RidgePath: eigenvectors in feature space, or for a kernel functions.
  std::span<const double> eigenvalues() const noexcept { return s_; }
  double null_level() const;
  Directions directions(int64_t count, Context& context) const;
  /// n RSS / (n - Tr H)^2 per output; infinite where the fit interpolates, n - Tr H <= 1e-8 n.
  std::vector<double> gcv(double lambda) const;
  /// As RidgePath::evidence.
  std::vector<double> evidence(double lambda, double noise = 0) const;
  double evidence(const Combination& of, double lambda) const;
  /// Tr H, one more for the intercept when centred.
  double effective_dimension(double lambda) const;
  /// (y - f)_i / (1 - H_ii) of rows [first, last): rows x (lambdas times outputs), all outputs of
  /// the first lambda first; infinite where 1 - H_ii <= 1e-8. H is the hat matrix of the weighted
  /// rows; a row of weight 0 gets 0.
  Matrix<double> leave_one_out(std::span<const double> lambdas, int64_t first, int64_t last,
                               Context& context) const;
  /// For a combination of the outputs, after decompose: weights (D x columns), and leave-one-out
  /// residuals (rows x columns).
  Weights solve(const Combination& of, Context& context) const;
  Matrix<double> leave_one_out(const Combination& of, int64_t first, int64_t last,
                               Context& context) const;

 private:
  /// Weighs and centres Y.
  void prepare_targets();
  void centre_kernel();
  Weights weights_of(const Matrix<double>& alpha, std::vector<double> mean_Y,
                     Context& context) const;
  /// Copies alpha to the columns of the kernel's rows.
  void put_columns(const Matrix<double>& alpha, MatrixView<double> w) const;
  /// rotated: residuals in the eigenbasis, n x columns. parts: I - H in the eigenbasis, n x
  /// (columns / each), each column shared by `each` residual columns.
  Matrix<double> left_out(const Matrix<double>& parts, const Matrix<double>& rotated, int64_t each,
                          int64_t first, int64_t last, Context& context) const;
  /// residual_part of every eigenvector: n x lambdas.
  Matrix<double> residual_parts(std::span<const double> lambdas, Context& context) const;
  /// residual / (1 - H_ii); `left` is 1 - H_ii before the intercept's share is subtracted.
  double left_out(double residual, double left, std::size_t row) const;
  /// n lambda / (s_j + n lambda), the share of eigenvector j that remains in the residual.
  double residual_part(int64_t j, double lambda) const;
  /// The intercept's part of H_ii.
  double intercept_share(std::size_t row) const {
    return center_ ? weight_of(static_cast<int64_t>(row)) / n_ : 0.0;
  }

  Matrix<double> targets_;
  Matrix<double> Z_;             // centred if center_, rows times sqrt(weight); empty for a kernel
  Matrix<double> Y_;             // likewise
  std::vector<double> weights_;  // empty: 1 each
  double n_;                     // their sum
  bool center_;
  std::vector<double> mean_Y_;    // zeros without centring
  std::vector<double> mean_Z_;    // of all columns
  double mean_K_ = 0;             // kernel: mean over pairs of rows; without centring 0
  std::vector<int64_t> columns_;  // kernel: the column of each row
  int64_t features_;
  Matrix<double> K_;       // centred, lower triangle
  Matrix<double> U_;       // row j is eigenvector j
  std::vector<double> s_;  // ascending, >= 0
  Matrix<double> UY_;      // U Y
};

// Exact kernel ridge regression: alpha = (K + n lambda I)^{-1} Y, the reference for features.

/// K: symmetric (lower triangle read), destroyed. Returns alpha, of the shape of Y. n: the number
/// of rows, or the sum of their weights if K and Y carry square roots of weights. Jitter as in
/// ridge_cholesky.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            double n, Context& context);
/// alpha := K^+ alpha, eigenvalues up to eps n Tr K counting as zero: lambda = 0 of the minimum
/// norm. Returns the number of the others. K is destroyed.
int64_t solve_pseudo_inverse(MatrixView<double> K, MatrixView<double> alpha, Context& context);
/// n = rows of K.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            Context& context);

}  // namespace mercer::solver
