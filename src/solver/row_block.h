// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Prepares a block of rows for RowStatistics in one pass: widens to double, subtracts an origin and
// sums columns.
#pragma once

#include <span>

#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

/// wide (same shape as Z) = Z - 1 origin', sums[j] = sum_i wide(i, j). Sums run down the rows in
/// order, whatever the thread count.
template <class T>
void shift_and_sum(MatrixView<const T> Z, const double* origin, MatrixView<double> wide,
                   double* sums, Context& context);
/// sums[j] = sum_i Z(i, j), in double.
template <class T>
void sum_columns(MatrixView<const T> Z, double* sums, Context& context);

/// Recomputes sums[j] = sum_i w_i wide(i, j), then multiplies rows by the roots of their weights.
void weigh_and_sum(std::span<const double> weights, MatrixView<double> wide, double* sums,
                   Context& context);

}  // namespace mercer::solver
