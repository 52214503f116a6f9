// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Principal components of features, and ridge regression of the targets on their scores.
#pragma once

#include <cstdint>
#include <vector>

#include "solver/block_source.h"
#include "solver/ridge_system.h"

namespace mercer::solver {

struct ComponentsRequest {
  int64_t count = 0;  // 0: enough for kExplained of the variance, at most kMostExplaining
  bool center = true;
  double lambda = 0;  // of the ridge
};
inline constexpr double kExplained = 0.95;
inline constexpr int64_t kMostExplaining = 100;

struct PrincipalComponents {
  /// D x k: orthonormal directions, the largest variance first; for kernel columns, functions of
  /// norm 1. The entry of largest magnitude is positive. Scores are those of centred features.
  Weights scores;
  std::vector<double> variances;  // of the scores: mean squares
  double total = 0;               // variance of all directions
  Weights targets;                // k x outputs, from scores
};

/// From row statistics (O(D^2) numbers), or from the n x n Gram matrix if n < D or for kernel
/// columns. Errors: INVALID_ARGUMENT for more components than the features' numerical rank; those
/// of PrimalSystem.
PrincipalComponents principal_components(const BlockSource& rows, const ComponentsRequest& asked,
                                         Context& context);

}  // namespace mercer::solver
