// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The right-hand side of ridge, and the means of features and targets, from one pass over rows.
#pragma once

#include <vector>

#include "solver/block_source.h"
#include "solver/centering.h"

namespace mercer::solver {

/// Of all processes that share the rows.
struct NormalEquations {
  double weight = 0;     // n
  MeanRow mean;          // zeros without centring
  Matrix<double> cross;  // D x outputs: (Z - 1 mean')'W(Y - 1 mean')
};

NormalEquations normal_equations(const BlockSource& rows, bool center, Context& context,
                                 const RowsDone& done = {});
/// The same from sums, which become those about the mean, or about zero.
NormalEquations normal_equations(RowStatistics& sums, bool center, Context& context);

}  // namespace mercer::solver
