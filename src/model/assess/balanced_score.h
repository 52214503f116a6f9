// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Balanced accuracy: the mean over classes of the share of their rows that is found (recall), which
// a model that always says the largest class cannot raise above 1 / classes.
#pragma once

#include <cstdint>
#include <span>

#include "base/matrix_view.h"
#include "model/report.h"

namespace mercer::model {

/// Y: class numbers; scores: rows x classes, NaN scores count as wrong; weights: > 0, or none. The
/// error is unknown where a class has one row only. clusters: as score_of has them.
BalancedScore balanced_score(MatrixView<const double> Y, MatrixView<const double> scores,
                             std::span<const double> weights = {},
                             std::span<const int64_t> clusters = {});

}  // namespace mercer::model
