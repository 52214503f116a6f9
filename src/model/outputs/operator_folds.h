// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// K-fold errors of decomposable maps from sums of the folds alone (stein.h).
#pragma once

#include <cstdint>
#include <span>

#include "feature/feature_map.h"
#include "solver/stein.h"

namespace mercer::model {

/// Rows are dealt to `count` folds of about one size, in an order by seed.
struct Folds {
  int64_t count = 5;
  uint64_t seed = 0;
  bool about_means = false;  // of the other folds' targets
};

/// Mean squared error of one output, 1 x lambdas, every fold predicted by a fit on the others at
/// their own N. One pass over the rows, count D^3, memory 8 (count + 3) D^2 bytes. Errors:
/// INVALID_ARGUMENT for more folds than rows; OUT_OF_MEMORY before any row is read.
Matrix<double> fold_errors(const feature::FeatureMap& map, MatrixView<const double> X,
                           MatrixView<const double> Y, const solver::OutputBasis& basis,
                           std::span<const double> lambdas, const Folds& folds, Context& context);

}  // namespace mercer::model
