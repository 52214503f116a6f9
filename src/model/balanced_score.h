// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Balanced accuracy: the mean over classes of the share of their rows that is found (recall), which
// a model that always says the largest class cannot raise above 1 / classes.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/aligned.h"

namespace mercer::model {

struct ClassScore {
  int64_t rows = 0;
  double recall = std::numeric_limits<double>::quiet_NaN();  // by weights; of no row unknown
};

struct BalancedScore {
  double value = std::numeric_limits<double>::quiet_NaN();           // over classes that have rows
  double standard_error = std::numeric_limits<double>::quiet_NaN();  // of independent rows
  std::vector<ClassScore> classes;                                   // none of a regression
};

/// Y: class numbers; scores: rows x classes, NaN scores count as wrong; weights: > 0, or none. The
/// error is unknown where a class has one row only.
BalancedScore balanced_score(MatrixView<const double> Y, MatrixView<const double> scores,
                             std::span<const double> weights = {});

}  // namespace mercer::model
