// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Baselines: a constant, and ridge on the inputs themselves.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "model/model.h"
#include "solver/row_set.h"

namespace mercer::model {

/// Predictions for the rows `test` by fits to `train`, test.count x outputs each.
struct Baselines {
  Matrix<double> constant;  // means of the (coded) targets, or the constant of least loss
  Matrix<double> linear;    // no rows above kMostLinearInputs, or for other losses than squares
};

inline constexpr int64_t kMostLinearInputs = 2000;

/// Extrapolation in an assessment: as the model's, but nothing is refused.
inline Extrapolation foreseen_as(Extrapolation asked) {
  return asked == Extrapolation::free ? Extrapolation::free : Extrapolation::clip;
}

/// The linear model is fitted on a seeded sample of at most 20,000 rows of `train`, prepared as the
/// model's, with lambda by leave-one-out. The rows `test` are clipped to the model's ranges as the
/// model does. weights: of the rows of X, or none.
Baselines baselines(const Model& model, const Rows& X, MatrixView<const double> Y,
                    const std::vector<int64_t>& train, const std::vector<int64_t>& test,
                    Context& context, std::span<const double> weights = {});

}  // namespace mercer::model
