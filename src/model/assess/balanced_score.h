// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Balanced accuracy: the mean recall over classes, which is 1 / classes for a model that always
// predicts the largest class.
#pragma once

#include <cstdint>
#include <span>

#include "base/views.h"
#include "model/report.h"

namespace mercer::model {

/// Y: class numbers; scores: rows x classes, NaN scores count as wrong; weights: > 0, or none. The
/// standard error is NaN if a class has a single row. clusters: as in score_of.
BalancedScore balanced_score(MatrixView<const double> Y, MatrixView<const double> scores,
                             std::span<const double> weights = {},
                             std::span<const int64_t> clusters = {});

}  // namespace mercer::model
