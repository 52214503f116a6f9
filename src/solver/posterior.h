// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How sure ridge is of f(x). With targets y = f(x) + noise of variance s^2 and theta ~ N(0, s^2/(n
// lambda) I), whose mean given the targets is the ridge solution, and flat priors of the intercepts,
//   Cov f(x) = s^2 (Phi~(x)'(H + n lambda I)^{-1} Phi~(x) + diag 1/n_k),
// Phi~ and H of features about their means (group_sums.h; Rasmussen, Williams 2006, section 2.1).
// s^2 = squared residuals over the observed targets less Tr H: of each output where these are
// independent, else one in their units.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "solver/coupled_path.h"

namespace mercer::solver {

class Posterior {
 public:
  /// weights: the solution at lambda > 0. Two passes; O(n D^2 + r^3). Errors: OUT_OF_MEMORY,
  /// UNSUPPORTED for lambda = 0, NOT_POSITIVE_DEFINITE: no jitter makes it too sure.
  Posterior(const BlockSource& rows, const RidgeProblem& problem, double lambda,
            const Weights& weights, Context& context);
  /// From numbers(). INVALID_ARGUMENT unless they are of these features and outputs.
  Posterior(std::span<const double> numbers, int64_t features, int64_t outputs, Context& context);

  int64_t outputs() const noexcept { return means_.rows(); }
  /// Row i of out (n x p p): Cov f of row i of Z (n x D). O(n p r^2).
  void covariance(MatrixView<const double> Z, Context& context, MatrixView<double> out) const;
  std::vector<double> numbers() const;

 private:
  void factor(MatrixView<double> A, double shift) const;
  void measure_noise(const BlockSource& rows, const Weights& weights, double degrees,
                     Context& context);

  Matrix<double> means_;                       // p x D
  std::vector<double> share_, noise_, scale_;  // p; noise_: variances
  Matrix<double> roots_;                       // as Coupling's; no rows: outputs are independent
  Matrix<double> L_;
};

}  // namespace mercer::solver
