// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// p-values: from permutations, and from the limit of a null distribution.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mercer::statistic {

/// Values of one statistic: as observed, then after each permutation. Its digits end at `rounding`.
struct Permuted {
  std::vector<double> values;
  double rounding = 0;
};

/// (1 + #{permutations that give at least the observed value}) / (1 + permutations): at most alpha
/// with a probability of at most alpha if the observations are exchangeable.
double p_value(const Permuted& statistic);

/// The observed value less the mean of all, over their standard deviation; 0 if all are equal.
double standardised(const Permuted& statistic);

/// The p-value of the largest of several standardised statistics, permuted together: as exact.
double p_value_of_largest(std::span<const Permuted> statistics);

/// P(T > z) for T of mean 0, variance 1 and this skewness > 0: a gamma law, shifted and scaled. Sums
/// of weighted chi-squared numbers are nearly of it (Buckley, Eagleson 1988).
double gamma_tail(double z, double skewness);

}  // namespace mercer::statistic
