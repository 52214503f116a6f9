// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a model must beat to be worth its features: a constant, and ridge on the inputs themselves.
#pragma once

#include <span>
#include <vector>

#include "base/aligned.h"
#include "model/model.h"
#include "solver/row_set.h"

namespace mercer::model {

/// Predictions for the rows `test` by what was learnt on `train`, test.count x outputs each.
struct Baselines {
  Matrix<double> constant;  // the targets' means, of one-hot codes, whose largest is a class's; of
                            // another loss what is best by that
  Matrix<double> linear;    // no rows where the inputs are too many, above kMostLinearInputs, or
                            // where another loss than squares was fitted
};

inline constexpr int64_t kMostLinearInputs = 2000;

/// What an assessment does with inputs outside the range of the rows learnt from: what the model
/// will, but nothing is refused.
inline Extrapolation foreseen_as(Extrapolation asked) {
  return asked == Extrapolation::free ? Extrapolation::free : Extrapolation::clip;
}

/// The linear one is fitted on at most 20,000 rows of `train`, prepared as the model's, by seed,
/// lambda by leave-one-out; the rows `test` are clipped to the model's ranges as it would clip
/// them. weights: of the rows of X, or none.
Baselines baselines(const Model& model, const Rows& X, MatrixView<const double> Y,
                    const std::vector<int64_t>& train, const std::vector<int64_t>& test,
                    Context& context, std::span<const double> weights = {});

}  // namespace mercer::model
