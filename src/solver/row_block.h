// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A block of rows on its way into RowStatistics: widened to double and summed by column in one
// pass.
#pragma once

#include "base/context.h"
#include "base/matrix_view.h"

namespace mercer::solver {

/// wide (same shape as Z) = Z, sums[j] = sum_i Z(i, j). Sums run down the rows of a column,
/// whatever the thread count.
void widen_and_sum(MatrixView<const float> Z, MatrixView<double> wide, double* sums,
                   Context& context);
/// sums[j] = sum_i Z(i, j).
void sum_columns(MatrixView<const double> Z, double* sums, Context& context);

}  // namespace mercer::solver
