// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Least squares with a penalty on several norms of the coefficients, by an interior-point method.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

/// Of D x p coefficients, lower triangles of symmetric matrices:
///   1/2 tr theta'H theta - tr C'theta + tau sum_a ||theta||_a, ||theta||_a^2 = tr theta'G_a theta.
struct GroupNormProblem {
  Matrix<double> H;               // D x D, positive definite
  Matrix<double> C;               // D x p
  std::vector<Matrix<double>> G;  // D x D each, positive semidefinite
};

struct GroupNormSolution {
  Matrix<double> theta;
  std::vector<double> norms;  // ||theta||_a
  double gap = 0;  // the objective is at most this above its least value, in what tau = 0 gains
  int64_t iterations = 0;  // of Newton's method, a factor of D x D each
};

class GroupNormSystem {
 public:
  /// Factors H: D^3/3. Errors: those of jittered_cholesky (primal_system.h).
  GroupNormSystem(GroupNormProblem problem, Context& context);

  /// tr C'theta / sum_a ||theta||_a at tau = 0, in which taus are counted: theta is 0 from the dual
  /// norm of C on, which is no less. 0 where all norms are 0 there.
  double unit() const noexcept { return size_ * unit_; }
  /// With a gap of at most tolerance, or the least that rounding errors leave: squares of norms have
  /// those of G_a and theta, so that it is about 1e-8 of well-conditioned problems. About 15
  /// iterations, each of D^3/3 + 4 D^2 operations for each norm.
  GroupNormSolution solve(double tau, double tolerance, Context& context) const;

 private:
  friend class Descent;
  GroupNormProblem problem_;  // C divided by size_
  double size_;               // the largest entry of C, so that no square overflows
  Matrix<double> factor_;     // H = L L'
  Matrix<double> plain_;      // H^{-1} C
  double scale_ = 1;          // what the minimum at tau = 0 gains over theta = 0
  double unit_ = 0;
};

}  // namespace mercer::solver
