// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Centring by sums alone: the statistics of Z - mean and Y - mean without another pass over the
// rows. Private to solver.
#pragma once

#include <span>
#include <vector>

#include "solver/origin.h"
#include "solver/ridge.h"
#include "solver/row_statistics.h"

namespace mercer::solver {

struct Means {
  MeanRow row;          // of features and outputs; zeros without centring
  double distance = 0;  // squared, from the statistics' origin to the features' mean
};

/// Replaces Z'Z, Z'Y and sum y^2 by the sums about the mean, or about zero without `center`, and
/// returns the means. Centring leaves errors of eps n distance in the eigenvalues. Of complex
/// features Z'Z becomes the real form of Z^H Z, whose solution has Re w and -Im w in turn: then
/// Re(z w) is a real product.
/// INVALID_ARGUMENT for sums that are not finite.
Means center_in_place(RowStatistics& statistics, bool center);

/// intercept = mean of y - w' mean of z.
std::vector<double> intercepts(const MeanRow& mean, MatrixView<const double> w);

/// n lambda. INVALID_ARGUMENT unless lambda is finite and >= 0 and the product is finite.
double checked_shift(double lambda, double n);

/// INVALID_ARGUMENT unless there is a row, and one of positive weight.
void require_rows(int64_t rows, const char* what);
void require_rows(const RowStatistics& statistics, const char* what);

}  // namespace mercer::solver
