// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How well predictions fit targets.
#pragma once

#include <cstdint>
#include <span>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// R^2 = 1 - sum (y - f)^2 / sum (y - mean y)^2, averaged over the outputs whose targets vary; NaN
/// if none does. A target of NaN was not observed and is left out. Y and predictions: n x m.
/// weights: of the rows, n or none (1 each).
double r_squared(MatrixView<const double> Y, MatrixView<const double> predictions,
                 std::span<const double> weights = {});

/// The column of the largest score, the first of equals; kNoClass if one is NaN. At least one
/// score.
inline constexpr int64_t kNoClass = -1;
int64_t class_of(std::span<const double> scores);

/// Share of the rows whose class, Y(i, 0), is the column of the largest score, the first of equals.
/// A row with a NaN score, or whose Y is no column, counts as wrong. NaN for no rows. Y: n x 1,
/// scores: n x K, K >= 1, weights: as in r_squared.
double accuracy(MatrixView<const double> Y, MatrixView<const double> scores,
                std::span<const double> weights = {});

}  // namespace mercer::statistic
