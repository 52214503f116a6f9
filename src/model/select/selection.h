// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge on all rows at the lambda that a criterion chooses.
#pragma once

#include <optional>
#include <vector>

#include "kernel/kernel.h"
#include "model/prepare/preparation.h"
#include "model/rows/row_sets.h"
#include "model/select/judge.h"
#include "model/select/lambda_choice.h"
#include "solver/block_source.h"
#include "solver/ridge_system.h"
#include "solver/row_statistics.h"

namespace mercer::model {

struct RidgeFit {
  solver::Weights weights;
  double lambda = 0;
  std::vector<PathPoint> path;  // empty for Selection::fixed
  solver::SolverRun run = {};   // of passes over the rows
};

/// The mean of k(x, x), in which lambdas that are tried are counted, so that a kernel times a
/// constant has the same predictions. Kernels with a spectral law: k(0). Others:
/// the weighted mean of ||z||^2 over the rows, one pass, or of the kernel's own columns; with
/// coupled outputs the mean diagonal of their blocks. 1 if it is 1 up to rounding, or 0.
double lambda_unit(const kernel::Kernel& kernel, const solver::Coupling* coupling,
                   const solver::BlockSource& rows, Context& context);

/// The rows that folds or held_out hold out: one split, or one for each fold. INVALID_ARGUMENT if a
/// process has too few rows.
std::vector<Split> validation_splits(const SelectionOptions& how, const solver::BlockSource& rows);

/// Chooses lambda and solves on all rows, by the system that serves them (solver/ridge_system.h).
/// task: whose errors choose. left_out: null, or what takes scores of rows left out of the fit that
/// is selected. sums: null, or where those of all rows are left, if there were any.
/// Errors: UNSUPPORTED for generalised cross-validation of coupled outputs.
RidgeFit select(const solver::BlockSource& rows, const SelectionOptions& how, Task task,
                const solver::RidgeProblem& problem, Context& context,
                LeftOutScores* left_out = nullptr,
                std::optional<solver::RowStatistics>* sums = nullptr);

}  // namespace mercer::model
