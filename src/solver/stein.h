// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge with the decomposable kernel k B B': f(x) = B Theta'phi(x), with
//   Phi'Phi Theta B'B + n lambda Theta = Phi'Y B
// (a Stein equation) solved exactly, for every lambda and every B, from one eigendecomposition of
// Phi'Phi and one of B B'. Of Y rows may weigh, but no entry may be missing: see operator_ridge.h.
#pragma once

#include <span>
#include <vector>

#include "solver/block_source.h"
#include "solver/ridge.h"

namespace mercer::solver {

/// B B' = Q diag(g) Q' of a root B (p x q). In the basis Q the outputs are independent, and the
/// j-th is a ridge at lambda / g_j.
class OutputBasis {
 public:
  /// Eigenvalues up to p eps of the largest are 0. O(p^2 (p + q)). Errors: B empty, 0 or not finite
  /// (INVALID_ARGUMENT), and those of linalg::symmetric_eigen.
  OutputBasis(MatrixView<const double> B, Context& context);
  int64_t outputs() const noexcept { return B_.rows(); }
  int64_t rank() const noexcept;  // of B
  MatrixView<const double> B() const noexcept { return B_.view(); }
  MatrixView<const double> Q() const noexcept { return Q_.view(); }  // p x p
  std::span<const double> g() const noexcept { return g_; }          // ascending, >= 0
  /// lambda / g_j for each j, infinity for g_j = 0.
  std::vector<double> lambdas(double lambda) const;

 private:
  Matrix<double> B_, Q_;
  std::vector<double> g_;
};

struct SteinSolution {
  Matrix<double> theta;  // Theta, D x q
  Weights outputs;       // Theta B', D x p, and the intercept of a centred path
};
/// lambda >= 0; 0: the Theta of least norm. Outputs of the path beyond the basis's are not read.
SteinSolution stein_solution(const RidgePath& path, const OutputBasis& basis, double lambda,
                             Context& context);

/// Residuals of training rows when the row, all its outputs, is left out and n lambda is kept: rows
/// x (lambdas times p), all outputs of the first lambda first.
Matrix<double> stein_leave_one_out(const RidgePath& path, const OutputBasis& basis,
                                   std::span<const double> lambdas, MatrixView<const double> Z,
                                   MatrixView<const double> Y, Context& context,
                                   std::span<const double> weights = {});

/// What the choice is between: lambda, and what B is made with (the scale of a task similarity, the
/// weights of a graph).
struct SteinGrid {
  std::span<const OutputBasis* const> bases;
  std::span<const double> lambdas;
};

/// Mean squared errors of one output, over all of them: bases x lambdas. The least chooses.
Matrix<double> stein_held_out_error(const RidgePath& path, const SteinGrid& grid,
                                    const RowStatistics& held_out, Context& context);
Matrix<double> stein_leave_one_out_error(const RidgePath& path, const SteinGrid& grid,
                                         const BlockSource& rows, Context& context);
/// Every fold predicted by a fit on the others, with their own n.
Matrix<double> stein_kfold_error(std::span<const RowStatistics* const> folds, bool center,
                                 const SteinGrid& grid, Context& context);

struct SteinChoice {
  int64_t basis = 0, lambda = 0;
  double error = 0;
};
/// The least error; of equal ones the first. INVALID_ARGUMENT if none is finite.
SteinChoice least_error(MatrixView<const double> errors);

/// ||f||^2 of f = Phi(.)'theta, for the theta of least norm that makes it.
double squared_rkhs_norm(MatrixView<const double> theta);
/// sum_{k<l} W_kl ||f_k - f_l||_k^2 of f(x) = C'phi(x), C D x p, along the edges of a graph whose
/// weights W (p x p) are symmetric. With Gamma = B B' the pseudo-inverse of W's Laplacian and
/// C = Theta B' it is ||f||^2.
double graph_penalty(MatrixView<const double> W, MatrixView<const double> C);

}  // namespace mercer::solver
