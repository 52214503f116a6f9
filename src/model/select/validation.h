// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Lambda by rows that were not fitted on: held out, or fold by fold.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/select/selection.h"
#include "solver/lambda_path.h"

namespace mercer::model {

/// Largest D for which a path over held-out rows decomposes; above it a Cholesky factor per lambda
/// takes less memory.
inline constexpr int64_t kMostEigenFeatures = 4096;

/// Scores of lambdas by paths that are made of the training rows of each fold. of_fold: of
/// progress, what a path takes beside its rows.
using PathMaker = std::function<std::unique_ptr<solver::LambdaPath>(const solver::BlockSource& rows,
                                                                    const solver::RowsDone& done)>;
std::vector<PathPoint> validated_path(const solver::BlockSource& rows, const Selecting& how,
                                      Task task, int64_t of_fold, const PathMaker& make,
                                      Context& context);

/// By Gram matrices, or by n x n systems. The lambda of least score, fitted on all rows.
Selected validate_primal(const solver::BlockSource& rows, const Selecting& how, Task task,
                         bool center, Context& context, LeftOutScores* left_out);
Selected validate_dual(const solver::BlockSource& rows, const Selecting& how, Task task,
                       bool center, Context& context, LeftOutScores* left_out);

}  // namespace mercer::model
