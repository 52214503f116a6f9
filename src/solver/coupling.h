// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Outputs that are learnt together: f(x) = S C'z(x) + b, S the diagonal of the targets' units. Row
// c of C (D x p) is B_c theta_c, and ridge penalises |theta|^2 instead of |C|^2. A kernel k Gamma
// has one root B B' = Gamma for all features, a matrix-valued spectral density one root per
// frequency (Brault, Heinonen, d'Alche-Buc 2016, sections 3 and 5.3).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

class Coupling {
 public:
  /// roots: row c is B_c (p x q), row after row, D of them, or one for all features; scale: p
  /// numbers > 0. Errors: INVALID_ARGUMENT for roots that are empty, 0 or not finite.
  Coupling(int64_t outputs, Matrix<double> roots, std::vector<double> scale, Context& context);
  /// p independent outputs.
  static Coupling independent(int64_t outputs, Context& context);

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

}  // namespace mercer::solver
