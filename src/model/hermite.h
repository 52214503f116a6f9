// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Hermite learning: ridge regression on values and partial derivatives of a function, each set with
// its own rows and weight (Shi, Guo, Zhou 2010).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/aligned.h"
#include "base/views.h"
#include "model/fit.h"

namespace mercer::model {

struct HermiteOptions {
  double lambda = 1e-6;
  bool center = true;  // an intercept of the values, which is not penalised
  /// lambda is the one of the path with the least weighted squared error on rows held out, of all
  /// sets, by select->folds; rows at one place are held out together. none: lambda is given.
  std::optional<SelectionOptions> select = {};
  /// ridge or gp, which keeps its posterior: the noise of a row has the variance s^2/(w_s r_si).
  const ModelEntry* entry = &ridge_model();
  Parameters parameters = {};  // its own
};

/// INVALID_ARGUMENT for NaN or Inf in X or Y, naming set, row and column.
void check_finite(std::span<const Observations> sets);

/// The f(x) = phi(x)'theta + b that minimises
///   sum_s w_s sum_i r_si (d^{p_s} f(x_si) - y_si)^2 + n lambda ||theta||^2
/// with n the number of rows of values (without any, of the first set); b is 0 without center or
/// without values. The model has no preparation and no ranges: inputs are never clipped. Memory:
/// 4 x 8 D^2 bytes and blocks of 1024 rows; O(rows D^2). With folds three times the memory, twice the
/// rows and O(D^3) for each fold.
/// Errors: INVALID_ARGUMENT (no sets, rows or weights; NaN or Inf in X or Y, naming set, row and
/// column), DIMENSION_MISMATCH, UNSUPPORTED (a map without derivatives, where they are asked for,
/// or a complex one), those of ridge_cholesky.
Model fit_hermite(std::shared_ptr<const feature::FeatureMap> map,
                  std::span<const Observations> sets, const HermiteOptions& options,
                  Context& context);

// Sets as a plan asks for them.

/// Sets are fitted by ridge or gp, by a map of the caller's or the plan's: UNSUPPORTED for what else
/// is asked.
HermiteOptions options_of_sets(const FitPlan& plan, bool has_map);

/// The rows of all sets, whose numbers are finite.
Matrix<double> all_places(std::span<const Observations> sets, Context& context);

}  // namespace mercer::model
