// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Penalised losses of functions with several outputs:
//   f(theta) = (1/N) sum_i sum over observed k of loss(f_k(x_i), y_ik) + lambda/2 |theta|^2,
// N the number of rows.
#pragma once

#include <span>
#include <vector>

#include "solver/loss.h"
#include "solver/operator_rows.h"

namespace mercer::solver {

struct OperatorLoss {
  const Loss* loss = nullptr;                   // null: squares, (s - y)^2 / 2
  std::vector<LossParameters> parameters = {};  // none, one, or one per output: joint quantiles
  /// Losses of classes: each output is a two-class task of its own, with targets 0 and 1; otherwise
  /// a row has one class, a single 1, and its targets are all observed or all missing.
  bool separate = false;

  /// No second derivative in a score is larger. UNSUPPORTED for losses without a bound (poisson).
  double largest_curvature() const;
};

/// Scores S become slopes, 0 where no target was observed; the sum of the losses. A block's targets
/// and scores are rows x p.
double take_slopes(const OperatorLoss& loss, MatrixView<const double> Y, MatrixView<double> S);

class OperatorObjective {
 public:
  /// Refers to rows and Y. Errors: those of ObservedRows; INVALID_ARGUMENT for a parameter out of
  /// its domain, or targets that the loss has no value for; lambda negative or not finite.
  OperatorObjective(const OperatorRows& rows, MatrixView<const double> Y, OperatorLoss loss,
                    double lambda);
  const OperatorRows& rows() const noexcept { return rows_; }
  MatrixView<const double> targets() const noexcept { return Y_; }
  const OperatorLoss& loss() const noexcept { return loss_; }
  double lambda() const noexcept { return lambda_; }

  /// f at theta, and its gradient. One pass.
  double operator()(std::span<const double> theta, std::span<double> gradient,
                    Context& context) const;

 private:
  const OperatorRows& rows_;
  MatrixView<const double> Y_;
  OperatorLoss loss_;
  double lambda_;
};

struct OperatorFitOptions {
  double tolerance = 1e-12;  // on what a step is expected to lower f by, relative to f
  int64_t most_iterations = 1000;
};
struct OperatorDescent {
  int64_t iterations = 0;
  double largest_gradient = 0;
  bool converged = false;  // to the tolerance or f's arithmetic, where the gradient is flat
};
/// Moves theta to the minimum by L-BFGS (linalg/lbfgs.h).
OperatorDescent minimize(const OperatorObjective& objective, const OperatorFitOptions& options,
                         Context& context, std::span<double> theta);

}  // namespace mercer::solver
