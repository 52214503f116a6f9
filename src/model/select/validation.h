// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lambda by rows that were not fitted on: held out, or fold by fold.
#pragma once

#include "model/select/selection.h"

namespace mercer::model {

/// Largest D for which a path over held-out rows decomposes; above it a Cholesky factor per lambda
/// takes less memory.
inline constexpr int64_t kMostEigenFeatures = 4096;

/// By Gram matrices, or by n x n systems. The lambda of least score, fitted on all rows.
Selected validate_primal(const solver::BlockSource& rows, const Selecting& how, Task task,
                         bool center, Context& context, LeftOutScores* left_out);
Selected validate_dual(const solver::BlockSource& rows, const Selecting& how, Task task,
                       bool center, Context& context, LeftOutScores* left_out);

}  // namespace mercer::model
