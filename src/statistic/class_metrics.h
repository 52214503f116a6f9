// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How well scores and probabilities of K classes fit the rows' classes, Y(i, 0). INVALID_ARGUMENT
// naming the row for a number that is no class or a row with a NaN; accuracy counts those as wrong
// (prediction_score.h). NaN for no rows. weights: of the rows, or none; with weights, counts are
// sums of weights and bins hold about equal weight.
#pragma once

#include <cstdint>
#include <span>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// counts (K x K): rows of class i whose largest score is that of class j, the first of equals.
void confusion(MatrixView<const double> Y, MatrixView<const double> scores,
               MatrixView<double> counts, std::span<const double> weights = {});

/// Area under the curve of true against false positives (Fawcett 2006): the probability that a row
/// of the class has a higher score than one of another, ties counting half, by ranks. Two classes
/// are ranked by the difference of their scores; for more it is the mean over classes, each against
/// the rest. Classes without rows, or with all of them, are left out; NaN if none is left.
double area_under_curve(MatrixView<const double> Y, MatrixView<const double> scores,
                        std::span<const double> weights = {});

/// Mean of -log p of the row's class; p below 1e-15 counts as that.
double log_loss(MatrixView<const double> Y, MatrixView<const double> probabilities,
                std::span<const double> weights = {});

/// Expected calibration error of the predicted class: rows are sorted by their largest probability
/// into bins of equally many (Naeini et al. 2015, Guo et al. 2017), and it is the mean over rows of
/// |share that is right - mean of the largest probability| in their bin. bins >= 1.
double calibration_error(MatrixView<const double> Y, MatrixView<const double> probabilities,
                         int64_t bins, std::span<const double> weights = {});

}  // namespace mercer::statistic
