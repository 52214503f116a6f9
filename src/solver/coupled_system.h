// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Outputs that are learnt together: f(x) = S C'z(x) + b, S the diagonal of the targets' units. Row
// c of C (D x p) is B_c theta_c, and ridge penalises |theta|^2 instead of |C|^2. A kernel k Gamma
// has one root B B' = Gamma for all features, a matrix-valued spectral density one root per
// frequency (Brault, Heinonen, d'Alche-Buc 2016, sections 3 and 5.3).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"
#include "solver/ridge_system.h"

namespace mercer::solver {

class Coupling {
 public:
  /// roots: row c is B_c (p x q), row after row, D of them, or one for all features; scale: p
  /// numbers > 0. Errors: INVALID_ARGUMENT for roots that are empty, 0 or not finite.
  Coupling(int64_t outputs, Matrix<double> roots, std::vector<double> scale, Context& context);
  /// p independent outputs; units: of the targets, or none.
  static Coupling independent(int64_t outputs, Context& context, std::vector<double> units = {});

  int64_t outputs() const noexcept { return outputs_; }                   // p
  int64_t width() const noexcept { return roots_.cols() / outputs_; }     // q
  int64_t coefficients(int64_t D) const noexcept { return D * width(); }  // r, of theta
  MatrixView<const double> roots() const noexcept { return roots_.view(); }
  /// One root serves all features.
  bool shared() const noexcept { return roots_.rows() == 1; }
  double root(int64_t c, int64_t output, int64_t column) const noexcept {
    return roots_(shared() ? 0 : c, output * width() + column);
  }
  const std::vector<double>& scale() const noexcept { return scale_; }
  /// spread: C (D x p) from theta (D x q), without the targets' units. gather: its adjoint.
  void spread(MatrixView<const double> theta, MatrixView<double> C) const noexcept;
  void gather(MatrixView<const double> C, MatrixView<double> theta) const noexcept;

  /// For a shared root: B B' = Q diag(g) Q', Q p x p, g ascending and >= 0. In the basis Q outputs
  /// are independent, and output j is a ridge at lambda / g_j (a diagonalised Stein equation).
  MatrixView<const double> Q() const noexcept { return Q_.view(); }
  /// lambda / g_j for each j, infinity for g_j = 0.
  std::vector<double> lambdas(double lambda) const;

 private:
  int64_t outputs_;
  Matrix<double> roots_;
  std::vector<double> scale_;
  Matrix<double> Q_;
  std::vector<double> g_;
};

// Ridge of coupled outputs; rows may miss some targets (NaN). theta minimises
//   (1/n) sum w_i/2 |S^{-1}(y_i - f(x_i))|^2 + lambda/2 |theta|^2,
// summed over observed targets, n the weight of the rows that have one. `center` fits intercepts.
// The evidence is known up to a constant of the targets and their units; outputs without a coupling
// have an amplitude each.

/// From one eigendecomposition of size min(D, n) where one root serves all features and no target
/// is missing, else of size min(r, number of targets). Errors: DIMENSION_MISMATCH, OUT_OF_MEMORY
/// before any row is read, those of the decomposition.
std::unique_ptr<RidgeSystem> make_coupled_system(const BlockSource& rows,
                                                 const RidgeProblem& problem, Context& context,
                                                 const RowsDone& done = {});
/// By a Cholesky factor for each lambda, or as make_coupled_system where that is no more work.
std::unique_ptr<RidgeSystem> make_coupled_factors(const BlockSource& rows,
                                                  const RidgeProblem& problem, Context& context,
                                                  const RowsDone& done = {});
/// Progress: the work of the system beside the pass over the rows, in rows that are summed up.
int64_t coupled_rows(const BlockSource& rows, const RidgeProblem& problem);

// Many small linear systems.

/// e := M^{-1} e for a symmetric M (lower triangle, q x q, by rows), which becomes its Cholesky
/// factor; false if a pivot is not above `least`.
inline bool solve_small(int64_t q, double least, std::vector<double>& M, std::vector<double>& e) {
  const auto at = [&](int64_t i, int64_t j) -> double& { return M[i * q + j]; };
  for (int64_t j = 0; j < q; ++j) {
    if (!(at(j, j) > least)) return false;
    const double root = std::sqrt(at(j, j));
    for (int64_t i = j; i < q; ++i) at(i, j) /= root;
    for (int64_t i = j + 1; i < q; ++i)
      for (int64_t k = j + 1; k <= i; ++k) at(i, k) -= at(i, j) * at(k, j);
  }
  for (int64_t i = 0; i < q; ++i) {
    double& x = e[i];
    for (int64_t k = 0; k < i; ++k) x -= at(i, k) * e[k];
    x /= at(i, i);
  }
  for (int64_t i = q - 1; i >= 0; --i) {
    double& x = e[i];
    for (int64_t k = i + 1; k < q; ++k) x -= at(k, i) * e[k];
    x /= at(i, i);
  }
  return true;
}

}  // namespace mercer::solver
