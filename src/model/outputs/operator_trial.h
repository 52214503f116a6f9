// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a lengthscale of an operator map is worth: errors over shapes and lambdas, in closed form
// where that can be had.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/outputs/operator_maker.h"
#include "model/outputs/operator_search.h"

namespace mercer::model {

/// Rows and their targets in units, some missing.
struct OperatorRowsView {
  MatrixView<const double> X, Y;
};

/// How rows left out are had: in closed form, or by a factor for each lambda or steps with a fifth
/// of the rows held out.
enum class OperatorSolution { stein, path, factor, steps };
OperatorSolution solution_for(const feature::FieldMap& map, MatrixView<const double> Y,
                              Context& context);

/// The best lambda and shape for a lengthscale. Ties go to the first.
OperatorCandidate try_out(const OperatorMaker& maker, const OperatorRowsView& rows,
                          double lengthscale, std::span<const double> shapes,
                          std::span<const double> lambdas, int64_t features, uint64_t seed,
                          Context& context);

/// Theta for what a candidate says.
std::vector<double> fit_candidate(const feature::FieldMap& map, const OperatorRowsView& rows,
                                  double lambda, Context& context);

}  // namespace mercer::model
