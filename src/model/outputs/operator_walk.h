// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The choice of lengthscale, shape and lambda by part of the rows and features. Private to the
// search.
#pragma once

#include <vector>

#include "model/outputs/operator_trial.h"
#include "model/phases.h"

namespace mercer::model {

/// Rows that were picked, and the numbers of both.
struct PickedRows {
  Matrix<double> X, Y;
  OperatorRowsView view() const { return {X.view(), Y.view()}; }
};

/// What a choice is made with, and where its candidates are told.
struct OperatorSearch {
  const OperatorPlan& plan;
  const OperatorSearchOptions& options;
  Context& context;
  Phases& phases;
  std::vector<OperatorCandidate>* trials = nullptr;  // null: of an assessment
};

struct OperatorChoice {
  OperatorCandidate best;
  bool at_edge = false;
};

PickedRows pick(const OperatorRowsView& rows, const std::vector<int64_t>& which, Context& context);

inline constexpr int64_t kChoiceUnits = 16;  // of the phases, for each choice
inline constexpr double kLargestLambda = 10, kSmallestLambda = 1e-9;
/// Given or 21 from the largest down.
std::vector<double> lambdas_of(const OperatorSearchOptions& options);

/// From the rows' median distance by factors of 2 as long as the error falls, then by sqrt(2), then
/// the shape where it was not tried with every lengthscale. rows: targets in units.
OperatorChoice choose(const OperatorSearch& search, const OperatorMaker& maker,
                      const OperatorRowsView& rows);

}  // namespace mercer::model
