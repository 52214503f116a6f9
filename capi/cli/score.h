// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scores of predictions as text.
#pragma once

#include <string>

namespace mercer::cli {

/// "R^2 0.96812" or "accuracy 0.9680".
std::string score_text(bool classification, double score);
/// By the name that a report has for the measure.
std::string measure_text(const std::string& measure, double score);
/// The number alone, right-aligned; "-" for NaN.
std::string score_number(double score, int width);

}  // namespace mercer::cli
