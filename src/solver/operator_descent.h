// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Averaged stochastic gradients of an operator objective, for more rows than a pass per step
// allows.
#pragma once

#include <cstdint>
#include <span>

#include "solver/operator_loss.h"

namespace mercer::solver {

struct DescentOptions {
  int64_t epochs = 20;      // passes over the rows, >= 1
  int64_t block_rows = 64;  // consecutive rows of a step, >= 1
  double first_step = 0;    // gamma_0 > 0; 0: by the rule below
  uint64_t seed = 0;        // of the order of the blocks
};

struct DescentResult {
  double value = 0;       // f at theta
  double first_step = 0;  // gamma_0
  int64_t steps = 0;
};

/// From theta, which becomes the mean of the iterates of the second half of the epochs (Polyak,
/// Juditsky 1992). Every epoch visits each block of rows once, in an order of its own from the
/// seed; step t moves by gamma_t = gamma_0 (1 + lambda gamma_0 t)^{-3/4} (Xu 2011) against the
/// block's gradient, gamma_0 = 1 / (L + lambda), L the loss's largest curvature times the largest
/// eigenvalue of (1/rows) sum Phi(x_i) Phi(x_i)' over up to 16 blocks, evenly spread, by 30 power
/// iterations. Rows that lie sorted should be shuffled by the caller: a block is its neighbours.
/// Cost: a pass per epoch, r arithmetic per step. Memory 2 r numbers. Errors: an option out of its
/// domain (INVALID_ARGUMENT), a loss without a bounded curvature where the rule is asked for
/// (UNSUPPORTED), a value that is not finite (NOT_CONVERGED: the step is too long), CANCELLED,
/// OUT_OF_MEMORY.
DescentResult averaged_descent(const OperatorObjective& objective, const DescentOptions& options,
                               Context& context, std::span<double> theta);

}  // namespace mercer::solver
