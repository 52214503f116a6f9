// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses lambda on held-out rows, or fold by fold.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/select/selection.h"
#include "solver/lambda_path.h"

namespace mercer::model {

/// Largest D for which a path is an eigendecomposition; above, a Cholesky factor per lambda takes
/// less memory.
inline constexpr int64_t kMostEigenFeatures = 4096;

/// Scores of lambdas by a path for each fold's training rows. of_fold: the work of a path beside
/// its rows, for progress.
using PathMaker = std::function<std::unique_ptr<solver::LambdaPath>(const solver::BlockSource& rows,
                                                                    const solver::RowsDone& done)>;
std::vector<PathPoint> validated_path(const solver::BlockSource& rows, const Selecting& how,
                                      Task task, int64_t of_fold, const PathMaker& make,
                                      Context& context);

/// Fits all rows at the lambda of least score, by Gram matrices or by n x n systems.
Selected validate_primal(const solver::BlockSource& rows, const Selecting& how, Task task,
                         bool center, Context& context, LeftOutScores* left_out);
Selected validate_dual(const solver::BlockSource& rows, const Selecting& how, Task task,
                       bool center, Context& context, LeftOutScores* left_out);

}  // namespace mercer::model
