// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// p-values: from permutations, and from the limit of a null distribution.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mercer::statistic {

/// The most that rounding leaves of the terms of a statistic that is a difference of sums, relative
/// to these.
inline constexpr double kLostInSums = 1e-13;

/// The fewest rows of a sample for the limit of a null distribution: with 8 and 8 rows 13 % of null
/// trials are rejected at 5 %.
inline constexpr int64_t kLeastRowsOfLimit = 20;

/// Values of one statistic: as observed, then after each permutation. Its digits end at `rounding`.
struct PermutationValues {
  std::vector<double> values;
  double rounding = 0;
};

/// (1 + #{permutations that give at least the observed value}) / (1 + permutations): at most alpha
/// with a probability of at most alpha if the observations are exchangeable.
double p_value(const PermutationValues& statistic);

/// The p-value of the largest of several statistics, each standardised by its permuted values, the
/// rows of all permuted together: as exact as that of one.
double p_value_of_largest(std::span<const PermutationValues> statistics);

/// One p-value of several, of whatever dependence, nearly exact where it is small (Liu, Xie 2020).
double combined_p_value(std::span<const double> p_values);

/// P(N(0, 1) > z).
double normal_tail(double z);

/// P(T > z) for T of mean 0, variance 1 and this skewness > 0: a gamma law, shifted and scaled. Sums
/// of weighted chi-squared numbers are nearly of it (Buckley, Eagleson 1988).
double gamma_tail(double z, double skewness);

}  // namespace mercer::statistic
