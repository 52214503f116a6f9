// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge in its dual form for fewer rows than features: K = Z Z' (n x n), f(x) = z(x)'Z'alpha +
// intercept. With centring K is replaced by (I - 11'/n) K (I - 11'/n), which is the Gram matrix of
// centred features.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/matrix_view.h"
#include "solver/ridge.h"

namespace mercer::solver {

class DualSystem {
 public:
  /// Takes over the features (n x D), targets (n x outputs) and weights (n, or none). O(n^2 D).
  DualSystem(Matrix<double> Z, Matrix<double> Y, std::vector<double> weights, bool center,
             Context& context);

  int64_t rows() const noexcept { return Z_.rows(); }
  /// alpha by Cholesky, O(n^3 / 3), with the jitter of kernel_ridge.
  Weights solve(double lambda, Context& context) const;

  /// K = U diag(s) U' for gcv and leave_one_out, which need it: O(n^3), once.
  void decompose(Context& context);
  /// n RSS / (n - Tr H)^2 per output; infinite where the fit interpolates, n - Tr H <= 1e-8 n.
  std::vector<double> gcv(double lambda) const;
  /// Mean over weighted rows of ((y - f)_i / (1 - H_ii))^2 per output; infinite where 1 - H_ii <=
  /// 1e-8. H is that of the weighted rows.
  std::vector<double> leave_one_out(double lambda) const;

 private:
  /// (I - H) Y, n x outputs.
  Matrix<double> residuals(double lambda) const;
  /// n lambda / (s + n lambda), the part of eigenvector j that is left in the residual.
  double residual_part(int64_t j, double lambda) const;
  /// What the intercept adds to H_ii.
  double intercept_share(std::size_t row) const {
    return center_ ? (weights_.empty() ? 1.0 : weights_[row]) / n_ : 0.0;
  }

  Matrix<double> Z_;             // centred when center_, rows times the roots of their weights
  Matrix<double> Y_;             // the same
  std::vector<double> weights_;  // empty: 1 each
  double n_;                     // their sum
  bool center_;
  std::vector<double> mean_Y_;  // zeros without centring
  std::vector<double> mean_Z_;
  Matrix<double> K_;       // centred, lower triangle
  Matrix<double> U_;       // row j is eigenvector j
  std::vector<double> s_;  // ascending, >= 0
  Matrix<double> UY_;      // U Y
};

}  // namespace mercer::solver
