// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows with equal inputs, whose targets bound the attainable score.
#pragma once

#include "base/context.h"
#include "base/views.h"
#include "model/prepare/coding.h"

namespace mercer::model {

struct Repeats {
  int64_t rows = 0;           // whose inputs repeat an earlier row's
  int64_t contradictory = 0;  // in groups of equal inputs whose targets differ
  /// The best attainable score. Classification: the accuracy of predicting the largest class of
  /// every group of equal rows. Regression: R^2, averaged over the outputs that vary, if the pure
  /// error (squares within groups over rows minus groups) is the noise variance of all rows.
  double most = 1;
};

/// Compares rows by a 64-bit hash of their inputs. Memory: 16 bytes per row.
Repeats find_repeats(Task task, const Rows& X, MatrixView<const double> Y, Context& context);

}  // namespace mercer::model
