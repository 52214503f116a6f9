// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Operator maps of too many coefficients for an eigendecomposition, learnt by Cholesky: (H + N
// lambda I) theta = s with one sum H over observed targets for all lambdas. Private to the search.
#pragma once

#include <span>
#include <vector>

#include "model/outputs/operator_trial.h"

namespace mercer::model {

/// A factor for each of a list of lambdas takes seconds and there is room for H and the factor: up
/// to 4,096 coefficients r and about a minute for H (N D^2, with gaps N p r^2).
bool has_factors(const feature::FieldMap& map, MatrixView<const double> Y, Context& context);

/// Mean squared error of a fifth of the rows, predicted by a fit on the others, N lambda kept.
std::vector<double> held_out_errors(const feature::FieldMap& map, const OperatorRowsView& rows,
                                    std::span<const double> lambdas, uint64_t seed,
                                    Context& context);

/// Theta of one lambda, with a factor in the place of H.
std::vector<double> factored_solution(const feature::FieldMap& map, const OperatorRowsView& rows,
                                      double lambda, Context& context);

}  // namespace mercer::model
