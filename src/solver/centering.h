// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Centring by sums alone: the statistics of Z - mean and Y - mean without another pass over the
// rows. Private to solver.
#pragma once

#include <span>
#include <vector>

#include "solver/ridge.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

struct Means {
  std::vector<double> features, outputs;  // zeros without centring
};

/// Replaces Z'Z, Z'Y and sum y^2 by those of centred rows, and returns the means; without `center`
/// nothing is changed. Subtracting n mean mean' leaves errors of eps n |mean|^2 in the eigenvalues.
Means center_in_place(RowStatistics& statistics, bool center);

/// intercept = mean of y - w' mean of z.
std::vector<double> intercepts(const Means& means, MatrixView<const double> w);

/// n lambda. INVALID_ARGUMENT unless lambda is finite and >= 0 and the product is finite.
double checked_shift(double lambda, int64_t rows);

/// INVALID_ARGUMENT unless rows >= 1.
void require_rows(int64_t rows, const char* what);

}  // namespace mercer::solver
