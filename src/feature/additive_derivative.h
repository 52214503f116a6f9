// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of additive features, each column of which reads one input.
#pragma once

#include <span>

#include "base/context.h"
#include "base/matrix_view.h"
#include "feature/derivative.h"
#include "feature/derivative_calls.h"

namespace mercer::feature {

/// Part 0: weights[0] sqrt(x_k); parts 2j - 1 and 2j: weights[j] sqrt(x_k) times cos and sin of
/// j period log x_k, all inputs of a part side by side.
struct Harmonics {
  double period;
  std::span<const double> weights;
};

/// As in Derivatives; NaN at x_k <= 0, where there is no derivative.
MERCER_DERIVATIVES(Harmonics)

}  // namespace mercer::feature
