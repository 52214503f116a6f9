// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows that share all their inputs, and what their targets say of the noise.
#pragma once

#include "base/context.h"
#include "base/rows.h"
#include "model/prepare/coding.h"

namespace mercer::model {

struct Repeats {
  int64_t rows = 0;           // whose inputs are those of a row before
  int64_t contradictory = 0;  // in groups of equal inputs whose targets differ
  /// What no model of these inputs goes beyond. Classes: the accuracy on all these rows that the
  /// largest class of every group leaves. Numbers: R^2, averaged over the outputs that vary, if the
  /// variance within groups (pure error: squares over rows less groups) is the noise of all rows.
  double most = 1;
};

/// Rows count as equal by a hash of 64 bits of their inputs.
/// Memory: 16 bytes a row.
Repeats find_repeats(Task task, const Rows& X, MatrixView<const double> Y, Context& context);

}  // namespace mercer::model
