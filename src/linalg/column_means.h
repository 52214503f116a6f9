// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Means of columns, and subtracting them from rows.
#pragma once

#include <span>
#include <vector>

#include "base/matrix_view.h"

namespace mercer::linalg {

/// sum w_i A(i, j) / sum w_i in two passes, so that columns far from zero keep their digits (Chan,
/// Golub, LeVeque 1983). At least one row; weights: one per row, with a positive sum; none: 1 each.
std::vector<double> column_means(MatrixView<const double> A, std::span<const double> weights = {});

/// A -= 1 offset'.
void subtract_from_rows(std::span<const double> offset, MatrixView<double> A);

}  // namespace mercer::linalg
