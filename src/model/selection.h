// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Chooses lambda and solves on all rows, by the route that the number of rows, features and the
// criterion ask for.
#pragma once

#include <vector>

#include "model/feature_rows.h"

namespace mercer::model {

struct Selected {
  solver::Weights weights;
  double lambda = 0;
  std::vector<PathPoint> path;  // empty for Selection::fixed
};

/// The point of the lowest score, the first on a tie; points with NaN are passed over unless all
/// are.
const PathPoint& best_point(const std::vector<PathPoint>& path);

/// The lambdas of the options, largest first, with scores of zero.
std::vector<PathPoint> empty_path(const FitOptions& options);
/// GCV summed over the outputs.
double total_gcv(const solver::RidgePath& path, double lambda);

/// By Gram matrix, for any n; by the n x n dual, for n < D.
Selected select_primal(const FeatureRows& rows, Context& context);
Selected select_dual(const FeatureRows& rows, Context& context);

/// Bytes either of them needs besides the rows.
int64_t primal_bytes(const FitOptions& options, int64_t features);

}  // namespace mercer::model
