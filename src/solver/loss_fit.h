// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights that minimise a penalised loss, and the coordinates in which fewer rows than features do
// so.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/context.h"
#include "linalg/lbfgs.h"
#include "solver/block_source.h"
#include "solver/loss.h"
#include "solver/ridge_system.h"

namespace mercer::solver {

// Weights that minimise a penalised loss (loss.h) by L-BFGS.

struct LossFitOptions {
  double tolerance = 0;           // on the expected decrease of f in a step, relative to f
  double gradient_tolerance = 0;  // on the gradient's largest entry
  int64_t most_iterations = 500;
  // Whether the end's distance is measured by the rows' own curvature there, and the descent goes
  // on from it until that is within the tolerance: L-BFGS knows a curvature of other points, which
  // says too little where a loss has none far from its targets.
  bool measured = false;
};

/// Minimises one objective for lambda after lambda, each from the x of the one before, the first
/// from 0. L-BFGS is preconditioned by (c G + lambda I)^{-1}, G the features' covariance over at
/// most 2 D rows evenly spread, c the loss's mean curvature; of coupled outputs with up to 4,096
/// coefficients by the Hessian in all of these; not where 16 bytes for each of its entries do not fit
/// in some process.
class LossFit {
 public:
  /// The source is referred to. Its features are cached if they fit (block_source.h). statistics:
  /// of these rows or similar ones, for the preconditioner; referred to, may be null.
  LossFit(const BlockSource& source, LossOptions options, Context& context,
          const RowStatistics* statistics = nullptr);
  ~LossFit();

  /// Moves x to the minimum for lambda.
  linalg::LbfgsResult run(double lambda, const LossFitOptions& options, Context& context);
  /// Whether the last run ended at a minimum (linalg/lbfgs.h). One pass, in every process.
  bool is_flat(const linalg::LbfgsResult& end, const LossFitOptions& options, Context& context);
  /// Whether the objective falls on from where the last run ended, at x, to 2 x or to twice the
  /// intercepts: it is convex, so that it has no minimum then. Two passes, in every process.
  bool falls_on(const linalg::LbfgsResult& end, Context& context);

  std::span<const double> x() const { return x_; }
  /// Starts the next run at the x of another fit of the same shape.
  void start_from(std::span<const double> x) { x_.assign(x.begin(), x.end()); }
  void set_parameters(const LossParameters& parameters) { objective_->set_parameters(parameters); }
  Weights weights() const { return objective_->weights(x_); }

 private:
  class Scaling;
  linalg::LbfgsResult descend(const LossFitOptions& options, const std::function<void()>& scale,
                              Context& context);
  void scale_at_end(double lambda, Context& context);

  std::unique_ptr<BlockSource> cached_;  // null: too large
  const BlockSource* rows_ = nullptr;    // cached or the caller's
  std::unique_ptr<LossObjective> objective_;
  std::unique_ptr<RowStatistics> own_;         // null: the caller's, or no room
  const RowStatistics* statistics_ = nullptr;  // own or the caller's
  std::unique_ptr<Scaling> scaling_;           // null: no room
  std::vector<double> x_;
};

// Fewer rows than features: weights of least norm lie in the span of the rows, so a penalised fit
// in coordinates of that span is the same fit (Kimeldorf and Wahba 1971). With ZZ' = Q diag(s) Q'
// rows have coordinates Q s^{1/2}; coefficients u become weights Z'Q s^{-1/2} u of equal norm.

class RowSpace {
 public:
  /// Whether it pays: n <= D / 2, one process, no kernel columns, and room for n D + 3 n^2 numbers.
  static bool pays(const BlockSource& rows, const Context& context);
  /// The rows are referred to. Where it does not pay, coordinates are the features. O(n^2 D + n^3).
  RowSpace(const BlockSource& rows, Context& context);

  bool reduces() const noexcept { return reduced_ != nullptr; }
  /// The rows with coordinates for features, in subsets too.
  const BlockSource& rows() const noexcept { return reduces() ? *reduced_ : rows_; }
  /// Weights of features from weights of coordinates. One pass.
  Weights weights(Weights u, Context& context) const;
  /// Orthonormal columns R with z = R c for each row, features x coordinates. One pass.
  Matrix<double> basis(Context& context) const;

 private:
  Matrix<double> lifted(MatrixView<const double> u, Context& context) const;

  const BlockSource& rows_;
  std::unique_ptr<BlockSource> reduced_;
  Matrix<double> dual_;  // n x r: Q s^{-1/2}
};

}  // namespace mercer::solver
