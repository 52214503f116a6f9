// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Confidence bounds of a mean and of a quotient of means from independent draws, whose skewness is
// corrected (Hall, "On the removal of skewness by transformation", JRSS B 1992).
#pragma once

#include <span>

namespace mercer::statistic {

struct Bounds {
  double low = 0, high = 0;
};

/// Each bound of the mean holds with probability 1 - alpha, to first order in 1/n; n >= 2 draws.
Bounds mean_bounds(std::span<const double> draws, double alpha);

/// Both together bound mean(numerators) / mean(denominators), of numbers >= 0 drawn in pairs, with
/// probability 1 - alpha: all quotients q for which the mean of numerator - q denominator may be 0
/// (Fieller 1954). high is infinite where the draws do not bound it.
Bounds quotient_bounds(std::span<const double> numerators, std::span<const double> denominators,
                       double alpha);

}  // namespace mercer::statistic
