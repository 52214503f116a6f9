// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What is learnt with an operator-valued map: theta of f(x) = Phi(x)'theta.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "feature/field/field_map.h"
#include "solver/block_source.h"
#include "solver/operator_loss.h"
#include "solver/operator_rows.h"
#include "solver/ridge.h"

namespace mercer::model {

/// INVALID_ARGUMENT naming row and column of a number that is not summable (base/finite.h) or
/// outside the domain of the map's kernel, whose features would be NaN.
void require_inputs(const feature::FieldMap& map, const char* name, MatrixView<const double> X);

/// A map at rows, which are referred to.
class MapRows final : public solver::OperatorRows {
 public:
  MapRows(const feature::FieldMap& map, MatrixView<const double> X) : map_(map), X_(X) {}
  int64_t rows() const override { return X_.rows; }
  int64_t outputs() const override { return map_.outputs(); }
  int64_t coefficients() const override { return map_.features(); }
  void values(int64_t first, MatrixView<const double> theta, Context& context,
              MatrixView<double> S) const override;
  void add_adjoint(int64_t first, MatrixView<const double> S, Context& context,
                   MatrixView<double> theta) const override;

 private:
  const feature::FieldMap& map_;
  MatrixView<const double> X_;
};

/// Scalar features of a map at rows, which are referred to, by blocks.
class ScalarRows final : public solver::BlockSource {
 public:
  ScalarRows(const feature::FeatureMap& map, MatrixView<const double> X, MatrixView<const double> Y)
      : map_(map), X_(X), Y_(Y) {}
  int64_t features() const override { return map_.features(); }
  int64_t outputs() const override { return Y_.cols; }
  int64_t rows() const override { return X_.rows; }
  int64_t block_rows() const override { return std::min(solver::kOperatorRows, X_.rows); }
  void for_each(Context& context, const Body& body) const override;
  std::unique_ptr<solver::BlockSource> subset(solver::RowSet) const override;

 private:
  const feature::FeatureMap& map_;
  MatrixView<const double> X_, Y_;
};
/// Of all their lambdas, without centring. OUT_OF_MEMORY before any row is read where there is no
/// room for the least that the decomposition takes.
solver::RidgePath scalar_path(const ScalarRows& rows, Context& context);
/// Of progress, in rows.
int64_t scalar_path_units(const ScalarRows& rows);

enum class OperatorMethod { automatic, stein, conjugate_gradient, lsqr, lbfgs, gradients };

struct OperatorFitOptions {
  OperatorMethod method = OperatorMethod::automatic;
  std::vector<double> lambdas = {1e-6};  // of several the one of least error on rows left out
  solver::OperatorLoss loss = {};
  double tolerance = 1e-8;         // gradients: no other
  int64_t most_iterations = 1000;  // gradients: epochs
  uint64_t seed = 0;       // of the rows held out or in folds, and of the order of gradients
  int64_t folds = 0;       // stein: how many choose among lambdas, or score one; 0: none
  bool intercept = false;  // targets are learnt less their means: fit.offset
};

struct OperatorFit {
  OperatorMethod method = OperatorMethod::automatic;  // the one taken
  int64_t chosen = 0;                                 // of the lambdas
  double error =
      0;  // of it, per observed output: leave-one-out, or of held-out rows; 0: one lambda, no folds
  int64_t iterations = 0;
  double residual = 0;      // of the normal equations, relative; 0 for stein; lbfgs and gradients:
                            // the largest entry of the gradient
  double squared_norm = 0;  // |theta|^2 = ||f||^2
  std::vector<double> offset = {};  // with an intercept the p means of what was observed
};

/// Minimises (1/N) sum loss(f(x_i), y_i) + lambda/2 |theta|^2 over observed targets. automatic is
/// stein where it can be (squares, the same root for all frequencies, every target observed), else
/// conjugate_gradient for squares, lbfgs for other losses. Of several lambdas stein takes the least
/// leave-one-out error, or that of folds; other methods the least loss on a fifth of the rows with
/// targets, held out at random, N lambda kept, from the largest lambda to the smallest, each from
/// the theta of the one before, up to the first that does not converge. With an intercept the means
/// that predict a row are of the rows that are left. theta is written last. Errors: those of the
/// methods, UNSUPPORTED for a method that cannot, NOT_CONVERGED with the residual: L-BFGS where no
/// step falls though the gradient is not down to rounding, and where no lambda has a finite error.
OperatorFit fit_operator(const feature::FieldMap& map, MatrixView<const double> X,
                         MatrixView<const double> Y, const OperatorFitOptions& options,
                         Context& context, std::span<double> theta);

/// The choice among several lambdas by rows held out, alone: theta is of the rows that were kept.
OperatorFit choose_operator_lambda(const feature::FieldMap& map, MatrixView<const double> X,
                                   MatrixView<const double> Y, const OperatorFitOptions& options,
                                   Context& context, std::span<double> theta);

}  // namespace mercer::model
