// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Errors of predictions of numbers, beside R^2 (prediction_score.h): means over the outputs. Y and
// predictions: n x m; a target of NaN was not observed and is left out. NaN for no rows, and where
// a prediction is NaN.
#pragma once

#include <span>

#include "base/matrix_view.h"

namespace mercer::statistic {

/// sqrt(mean (y - f)^2) of each output.
double root_mean_square(MatrixView<const double> Y, MatrixView<const double> predictions,
                        std::span<const double> weights = {});
/// mean |y - f|.
double mean_absolute(MatrixView<const double> Y, MatrixView<const double> predictions,
                     std::span<const double> weights = {});
/// mean of tau (y - f) where y > f, (1 - tau) (f - y) elsewhere (Koenker, Bassett 1978).
double pinball(MatrixView<const double> Y, MatrixView<const double> predictions, double tau,
               std::span<const double> weights = {});

}  // namespace mercer::statistic
