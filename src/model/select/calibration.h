// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Class probabilities from scores: p = softmax(slope s + offset), one slope and an offset per class
// (temperature scaling with biases; for two classes Platt 1999). Fitted on rows that the model was
// not fitted on.
#pragma once

#include <span>
#include <vector>

#include "base/context.h"
#include "base/views.h"
#include "solver/block_source.h"

namespace mercer::model {

struct Calibration {
  double slope = 1;
  std::vector<double> offset;  // one per class; empty: no calibration

  bool empty() const { return offset.empty(); }
  /// Scores become probabilities; NaN stays in its row.
  void apply(MatrixView<double> scores) const;
};

/// The prior of slope and offsets. softmax, for scores of a logistic loss: slope - 1 and offsets
/// are normal with deviation 1/2 about 0, so that few rows, or a class without any, change
/// softmax(s) little. none: scores may be in any unit.
enum class Prior { none, softmax };

/// Minimises the weighted mean of -log p, plus the prior's -log density, with the targets of Platt
/// 1999 for K classes: 1 - 2/(K (m + 2)) for a class whose rows weigh m, the rest shared by the
/// others, so that few rows never give probabilities of 0 and 1. A negative slope (scores without
/// information) becomes 0, and offsets give the classes' smoothed shares. scores and codes
/// (one-hot): n x K. weights: n, or none. reduction: null, or of the processes that share the rows.
/// Empty if no row has a weight.
Calibration fit_calibration(MatrixView<const double> scores, MatrixView<const double> codes,
                            std::span<const double> weights, Context& context,
                            solver::Reduction* reduction = nullptr, Prior prior = Prior::none);

/// Softmax of the unchanged scores, for a model fitted by the logistic loss.
Calibration plain_softmax(int64_t classes);

/// File format: slope, then offsets. INVALID_ARGUMENT unless there are classes + 1 finite numbers
/// with slope >= 0.
std::vector<double> numbers_of(const Calibration& calibration);
Calibration calibration_of(std::span<const double> numbers, int64_t classes);

}  // namespace mercer::model
