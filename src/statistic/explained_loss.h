// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of predictions by a loss other than squares: 1 - the mean loss over that of the best
// constant, as R^2 is for squares (pinball loss: Koenker and Machado 1999; Poisson deviance:
// Cameron and Windmeijer 1996).
#pragma once

#include <cstdint>
#include <span>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// The loss of target y and prediction f: pinball at tau (at 1/2, half the absolute error), or
/// Poisson deviance, f being the log of the mean.
struct RowLoss {
  bool deviance = false;
  double tau = 0.5;  // for pinball
  double operator()(double y, double f) const noexcept;
  /// The constant f of least mean loss over column o: a quantile, or the log of the mean.
  double best_constant(MatrixView<const double> Y, int64_t o,
                       std::span<const double> weights = {}) const;
};

/// 1 - loss / loss of the best constant, averaged over the outputs that vary; NaN if none does. A
/// target of NaN is left out.
double explained_loss(const RowLoss& loss, MatrixView<const double> Y,
                      MatrixView<const double> predictions, std::span<const double> weights = {});

}  // namespace mercer::statistic
