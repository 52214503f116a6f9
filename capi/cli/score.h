// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of predictions.
#pragma once

#include <cstdint>
#include <string>

namespace mercer::cli {

/// R^2 about the mean of these rows, averaged over the outputs that vary on them; NaN if none does,
/// as with one row. Y and predictions: n x m, no padding.
double r_squared(int64_t n, int64_t m, const double* Y, const double* predictions);
/// Share of rows whose class (as double) is the predicted one.
double accuracy(int64_t n, const double* classes, const int32_t* predicted);
/// "R^2 0.96812" or "accuracy 0.9680".
std::string score_text(bool classification, double score);
/// The number alone, right-aligned; "-" for NaN.
std::string score_number(double score, int width);

}  // namespace mercer::cli
