// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Probabilities of classes from scores: p = softmax(slope s + offset), one slope and an offset per
// class (temperature scaling with biases; for two classes Platt's 1999). Fitted on rows that the
// scores' weights were not.
#pragma once

#include <span>
#include <vector>

#include "base/context.h"
#include "base/matrix_view.h"
#include "solver/reduction.h"

namespace mercer::model {

struct Calibration {
  double slope = 1;
  std::vector<double> offset;  // one per class; empty: no calibration

  bool empty() const { return offset.empty(); }
  /// Scores become probabilities; NaN stays in its row.
  void apply(MatrixView<double> scores) const;
};

/// What is known of scores before any row is seen. softmax: weights of a logistic loss gave them,
/// so that slope - 1 and offsets are taken as normal of deviation 1/2 about 0: few rows, or a class
/// that has none, leave softmax(s) about as it is. none: scores may be in any unit.
enum class Prior { none, softmax };

/// The least mean of w -log p over the rows, with the targets of Platt 1999 for K classes:
/// 1 - 2/(K (m + 2)) for a class whose rows weigh m, and what is left for the others, so that few
/// rows never give probabilities of 0 and 1; with the prior -log p of slope and offsets is added,
/// rows counted by their weight. Scores that say nothing or the contrary, a slope below 0, get 0
/// and the offsets that suit that: the classes' smoothed shares. codes: one-hot, as scores n x K.
/// weights: n, or none. reduction: null, or of the processes that share the rows. Empty if no row
/// weighs anything.
Calibration fit_calibration(MatrixView<const double> scores, MatrixView<const double> codes,
                            std::span<const double> weights, Context& context,
                            solver::Reduction* reduction = nullptr, Prior prior = Prior::none);

/// Softmax of the scores as they are: of weights that a logistic loss has fitted.
Calibration plain_softmax(int64_t classes);

/// As a file keeps it: slope, offsets. INVALID_ARGUMENT unless they are finite, the slope not
/// negative, and as many as that takes.
std::vector<double> numbers_of(const Calibration& calibration);
Calibration calibration_of(std::span<const double> numbers, int64_t classes);

}  // namespace mercer::model
