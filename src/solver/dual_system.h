// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge in its dual form, for fewer rows than features or with a kernel's own values.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "solver/ridge_system.h"

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

class DualSystem final : public RidgeSystem {
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
  double weight_of(int64_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  /// K about its means, entries times the roots of both rows' weights: the lower triangle.
  MatrixView<const double> gram() const { return K_.view(); }
  /// Of a kernel: the column of each row, the mean of each column, none without centring, and
  /// theirs.
  std::span<const int64_t> columns() const noexcept { return columns_; }
  std::span<const double> column_means() const noexcept { return mean_Z_; }
  double mean() const noexcept { return mean_K_; }
  /// K = U diag(s) U' for criteria, which need it: O(n^3), once.
  void decompose(Context& context);
  /// After decompose: solutions from now on by eigenvectors, O(n (n + D)) each, instead of a
  /// Cholesky factor for each, O(n^3 / 3), with the jitter of kernel_ridge.
  void solve_by_eigenvectors() noexcept { by_eigenvectors_ = true; }
  /// Tr H by a factor is an estimate, as RidgeFactor's.
  Solution solution(double lambda, Want want, Context& context) const override;
  /// By the inverse of the factor of K + n lambda I, which takes as long as the weights, which are
  /// kept; at lambda = 0 decomposes K. All rows of the system.
  Solution solve_leaving_out(const BlockSource& rows, double lambda, Context& context,
                             const LeftOutRow& body) override;

  /// As in PrimalSystem: eigenvectors in feature space, or for a kernel functions.
  std::span<const double> eigenvalues() const noexcept { return s_; }
  double null_level() const;
  Directions directions(int64_t count, Context& context) const;
  std::vector<double> gcv(double lambda) const override;
  std::vector<double> evidence(double lambda, double noise = 0) const override;
  /// Infinite where rounding leaves no factor. O(n) for each pair of rows that are left out.
  std::vector<std::vector<double>> evidence_without(std::span<const double> lambdas,
                                                    std::span<const int64_t> left_out,
                                                    Context& context) const override;
  double effective_dimension(double lambda) const override;
  /// H is the hat matrix of the weighted rows; a row of weight 0 gets 0. Of the block its place
  /// alone is read.
  Matrix<double> leave_one_out(std::span<const double> lambdas, const WideBlock& block,
                               Context& context) const override;
  /// All rows of the system; no source is read.
  void for_each_left_out(const BlockSource& rows, std::span<const double> lambdas, Context& context,
                         const LeftOutRow& body, const RowsDone& done = {}) const override;

  // Of a combination of the outputs, as in PrimalSystem.
  Weights solve(const Combination& of, Context& context) const;
  using RidgeSystem::solve;
  double evidence(const Combination& of, double lambda) const;
  Matrix<double> leave_one_out(const Combination& of, const WideBlock& block,
                               Context& context) const;

 private:
  /// Weighs and centres Y.
  void prepare_targets();
  void center_kernel();
  Weights weights_of(const Matrix<double>& alpha, std::vector<double> mean_Y,
                     Context& context) const;
  /// Copies alpha to the columns of the kernel's rows.
  void put_columns(const Matrix<double>& alpha, MatrixView<double> w) const;
  /// Calls body for the rows from `first` on.
  void give(const Matrix<double>& residuals, int64_t first, const LeftOutRow& body) const;
  Matrix<double> leave_one_out(std::span<const double> lambdas, int64_t first, int64_t last,
                               Context& context) const;
  /// rotated: residuals in the eigenbasis, n x columns. parts: I - H in the eigenbasis, n x
  /// (columns / each), each column shared by `each` residual columns.
  Matrix<double> left_out(const Matrix<double>& parts, const Matrix<double>& rotated, int64_t each,
                          int64_t first, int64_t last, Context& context) const;
  /// residual_part of every eigenvector: n x lambdas.
  Matrix<double> residual_parts(std::span<const double> lambdas, Context& context) const;
  /// residual / (1 - H_ii); rest: 1 - H_ii.
  double left_out(double residual, double rest, int64_t row) const;
  /// The sums of the evidence: degrees less the number of rows are those that no row tells of.
  EvidenceSums evidence_sums(double shift, double others) const;
  bool leave_out(const Matrix<double>& U, double shift, EvidenceSums& sums, Context& context) const;
  /// n lambda / (s_j + n lambda), the share of eigenvector j that remains in the residual; nothing of
  /// the intercept's.
  double residual_part(int64_t j, double lambda) const;
  /// The intercept's direction, a row, or no row without centring.
  Matrix<double> intercept(Context& context) const;

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
  Matrix<double> U_;       // row j is eigenvector j; with centring row 0 the intercept's
  std::vector<double> s_;  // ascending, >= 0
  Matrix<double> UY_;      // U Y
  std::vector<std::pair<double, Matrix<double>>> solved_;  // alpha of solve_leaving_out at lambdas
  bool by_eigenvectors_ = false;
};

/// Reads the features into one n x D matrix: 8 n D + 8 n^2 bytes, for kernel columns 8 n^2.
DualSystem make_dual_system(const BlockSource& rows, bool center, Context& context,
                            const RowsDone& done = {});

/// The dual for n < D: alpha = (Z Z' + n lambda I)^{-1} Y, w = Z' alpha; O(n^2 D + n^3). Same
/// centring. n lambda below eps n Tr ZZ' (lambda = 0) is the minimum-norm solution, by an
/// eigendecomposition.
Weights ridge_dual(MatrixView<const double> Z, MatrixView<const double> Y, bool center,
                   double lambda, Context& context);

// Exact kernel ridge regression: alpha = (K + n lambda I)^{-1} Y, the reference for features.

/// K: symmetric (lower triangle read), destroyed. Returns alpha, of the shape of Y. n: the number
/// of rows, or the sum of their weights if K and Y carry square roots of weights. Jitter as in
/// ridge_cholesky.
Matrix<double> kernel_ridge(MatrixView<double> K, MatrixView<const double> Y, double lambda,
                            double n, Context& context);
/// alpha := K^+ alpha, eigenvalues up to eps n Tr K counting as zero: lambda = 0 of the minimum
/// norm. Returns the number of the others. K is destroyed.
int64_t solve_pseudo_inverse(MatrixView<double> K, MatrixView<double> alpha, Context& context);
/// linalg::symmetric_eigen of a centred K: the rows of `null`, orthonormal null vectors of K, are the
/// first eigenvectors as they are, with eigenvalues 0. Found among the others they would be as exact
/// as these are far from 0. What is below 0 becomes 0. Errors: NOT_POSITIVE_DEFINITE, if that is not
/// rounding; rounding: of K's numbers, infinite where they are products of features.
void centered_eigen(MatrixView<double> K, MatrixView<const double> null, std::span<double> values,
                    double rounding, Context& context);
/// INVALID_ARGUMENT unless K is symmetric but for rounding, its diagonal not below 0, nor so small
/// that nothing can be divided by it.
void require_kernel_matrix(MatrixView<const double> K);

}  // namespace mercer::solver
