// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Predictions of another loss than squares: 1 - the mean loss over that of the best constant, as R^2
// is of squares (of the pinball loss Koenker and Machado 1999, of Poisson's deviance Cameron and
// Windmeijer 1996).
#pragma once

#include <cstdint>
#include <span>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// Of target y and prediction f: pinball at tau (of 1/2 half the absolute error), or Poisson's
/// deviance, f being the log of the mean.
struct RowLoss {
  bool deviance = false;
  double tau = 0.5;  // of pinball
  double operator()(double y, double f) const noexcept;
  /// The f of least mean loss over column o: a quantile, or the log of the mean.
  double best_constant(MatrixView<const double> Y, int64_t o,
                       std::span<const double> weights = {}) const;
};

/// Averaged over the outputs that vary; NaN if none does. A target of NaN counts for nothing.
double explained_loss(const RowLoss& loss, MatrixView<const double> Y,
                      MatrixView<const double> predictions, std::span<const double> weights = {});

}  // namespace mercer::statistic
