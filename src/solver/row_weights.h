// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights of rows: a row of weight 2 counts as two equal rows. n of the formulas is the sum of the
// weights, which for rows without weights is their number. Generalised cross-validation takes n for
// a number of rows: weights of a sum below Tr H leave it no degrees of freedom, and it is infinite
// at every lambda. Scale them to a mean of 1 for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solver/row_set.h"

namespace mercer::solver {

/// Empty, or one finite number >= 0 for each row; else DIMENSION_MISMATCH or INVALID_ARGUMENT
/// naming the row.
void require_weights(std::span<const double> weights, int64_t rows);

/// The sum, in order; `rows` without weights.
double total_weight(std::span<const double> weights, int64_t rows);

/// Those of a set of rows; none without weights.
std::vector<double> taken_weights(std::span<const double> weights, RowSet rows);

}  // namespace mercer::solver
