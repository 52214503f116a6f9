// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How well predictions fit targets.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// R^2 = 1 - sum (y - f)^2 / sum (y - mean y)^2, averaged over the outputs whose targets vary; NaN
/// if none does. Y and predictions: n x m.
double r_squared(MatrixView<const double> Y, MatrixView<const double> predictions);

/// Share of the rows whose class, Y(i, 0), is the column of the largest score, the first of equals;
/// a number that is no column never is. NaN for no rows. Y: n x 1, scores: n x K, K >= 1.
double accuracy(MatrixView<const double> Y, MatrixView<const double> scores);

}  // namespace mercer::statistic
