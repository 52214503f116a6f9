// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How sure ridge on an operator-valued map is of f(x) = Phi(x)'theta. With targets y_ik = f_k(x_i)
// + noise of variance `noise` and theta ~ N(0, noise/shift I), whose mean given the targets is the
// ridge solution,
//   Cov f(x) = noise Phi(x)'(H + shift I)^{-1} Phi(x),  shift = N lambda,
// H the sum of Phi_k(x_i) Phi_k(x_i)' over observed (i, k), Phi_k a column of Phi (Rasmussen,
// Williams 2006, section 2.1).
#pragma once

#include <optional>

#include "solver/nystroem_preconditioner.h"
#include "solver/stein.h"

namespace mercer::solver {

class OperatorPosterior {
 public:
  virtual ~OperatorPosterior() = default;
  /// Row i of out (n x p p): Cov f(x_i), symmetric, from rows i p ... i p + p - 1 of Phi (n p x r),
  /// which are Phi(x_i)'.
  void covariance(MatrixView<const double> Phi, Context& context, MatrixView<double> out) const;

 protected:
  explicit OperatorPosterior(double noise) : noise_(noise) {}

 private:
  /// P' S^{-1} P for every block of p columns of P = Phi', the blocks side by side: p x n p.
  virtual void quadratic(MatrixView<const double> Phi, int64_t p, Context& context,
                         MatrixView<double> blocks) const = 0;
  double noise_;
};

/// By a Cholesky factor of H + shift I.
class FactoredPosterior final : public OperatorPosterior {
 public:
  /// H's lower triangle (r x r) is read. O(r^3 / 3). No jitter, which would make it too sure of
  /// what no target shows. Errors: NOT_POSITIVE_DEFINITE, also for a shift below 100 eps trace H,
  /// of which rounding leaves nothing.
  FactoredPosterior(Matrix<double>&& H, double shift, double noise, Context& context);

 private:
  // O(n p r^2).
  void quadratic(MatrixView<const double> Phi, int64_t p, Context& context,
                 MatrixView<double> blocks) const override;
  Matrix<double> L_;
};

/// By conjugate gradients on A'A + shift I, H = A'A, to a relative residual of 1e-10, with a sketch
/// of up to 100 eigenvectors where it has room. A is referred to.
class IterativePosterior final : public OperatorPosterior {
 public:
  IterativePosterior(const linalg::LinearOperator& A, double shift, double noise, Context& context);

 private:
  // Errors: NOT_CONVERGED.
  void quadratic(MatrixView<const double> Phi, int64_t p, Context& context,
                 MatrixView<double> blocks) const override;
  const linalg::LinearOperator& A_;
  double shift_;
  std::optional<NystroemPreconditioner> sketch_;
};

/// Of the decomposable kernel z'z B B', every target observed: in the basis Q of stein.h outputs
/// are independent, output j of variance noise z'(Z'Z + shift/g_j I)^{-1} z.
class SteinPosterior {
 public:
  /// The lower triangle of Z'Z (D x D) is read. O(D^3). `basis` is referred to. Errors:
  /// NOT_POSITIVE_DEFINITE for a shift below 100 eps max(g) trace Z'Z.
  SteinPosterior(Matrix<double>&& ZtZ, const OutputBasis& basis, double shift, double noise,
                 Context& context);
  /// Row i of out (n x p p): Cov f(x_i), of row i of Z. O(n (D^2 + p D + p^3)).
  void covariance(MatrixView<const double> Z, Context& context, MatrixView<double> out) const;

 private:
  Matrix<double> vectors_;  // of Z'Z, by rows
  Matrix<double> inverse_;  // D x p: 1/(s_i + shift/g_j), 0 for g_j = 0
  const OutputBasis& basis_;
  double noise_;
};

}  // namespace mercer::solver
