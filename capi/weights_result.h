// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The caller's arrays for the weights of a linear model.
#pragma once

#include <optional>

#include "row_arguments.h"
#include "solver/ridge_system.h"

namespace mercer::capi {

/// w, D x m, and intercept, 1 x m, each or none: checked before anything is computed.
class WeightsResult {
 public:
  WeightsResult(const mercer_matrix& w, const mercer_matrix& intercept, int64_t D, int64_t m,
                Context& context) {
    if (is_given(w)) w_.emplace("w", w, D, m, context);
    if (is_given(intercept)) intercept_.emplace("intercept", intercept, 1, m, context);
    if (w_ && intercept_) w_->check_apart(intercept_->extent());
  }
  void check_apart(const RowsArgument& rows) const {
    if (w_) w_->check_apart(rows);
    if (intercept_) intercept_->check_apart(rows);
  }
  /// Writes them; nothing unless all are finite.
  void write(const solver::Weights& weights) const {
    const MatrixView<const double> b{weights.intercept.data(), 1, std::ssize(weights.intercept),
                                     std::ssize(weights.intercept)};
    if (intercept_) intercept_->check(b);
    if (w_) w_->write(weights.table());
    if (intercept_) intercept_->write(b);
  }

 private:
  std::optional<Result> w_, intercept_;
};

}  // namespace mercer::capi
