// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Thresholds of statistical tests from a stated failure probability: a correct sampler exceeds one
// with at most that probability over the choice of the seed. `comparisons` is Bonferroni's count: m
// comparisons at failure / m each fail together with probability at most `failure`, whatever their
// dependence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace mercer::test {

inline constexpr double kFailure = 1e-6;

/// z with P(|N(0,1)| > z) = failure / comparisons, by bisection on erfc. For a mean of n
/// independent terms this is the limit law: take n so large that the terms' skewness / sqrt(n) is
/// far below 1.
inline double z_threshold(double failure = kFailure, double comparisons = 1) {
  double low = 0.0, high = 40.0;
  for (int step = 0; step < 80; ++step) {
    const double middle = 0.5 * (low + high);
    (std::erfc(middle / std::sqrt(2.0)) > failure / comparisons ? low : high) = middle;
  }
  return high;
}

/// D with P(sup |F_n - F| > D) <= failure / comparisons, for every n and continuous or discrete F:
/// Dvoretzky, Kiefer, Wolfowitz (1956) with the constant of Massart (1990), P(sup |F_n - F| > D) <=
/// 2 exp(-2 n D^2).
inline double ks_threshold(std::size_t n, double failure = kFailure, double comparisons = 1) {
  return std::sqrt(std::log(2.0 * comparisons / failure) / (2.0 * static_cast<double>(n)));
}

/// The Kolmogorov-Smirnov distance sup |F_n - F| of a sample from a continuous distribution
/// function.
template <class Distribution>
double ks_distance(std::span<const double> sample, Distribution&& cdf) {
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const double n = static_cast<double>(sorted.size());
  double distance = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double p = cdf(sorted[i]);
    const double above = static_cast<double>(i + 1) / n - p;
    const double below = p - static_cast<double>(i) / n;
    // Written so that a NaN ends in the distance.
    if (!(above <= distance)) distance = above;
    if (!(below <= distance)) distance = below;
  }
  return distance;
}

/// sup |F_n - G_m| of two samples: at most twice ks_threshold if they have one law and both are of
/// that size.
inline double two_sample_distance(std::vector<double> a, std::vector<double> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double distance = 0;
  size_t j = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    while (j < b.size() && b[j] <= a[i]) ++j;
    const double at = std::fabs(static_cast<double>(i + 1) / static_cast<double>(a.size()) -
                                static_cast<double>(j) / static_cast<double>(b.size()));
    if (!(at <= distance)) distance = at;
  }
  return distance;
}

/// x with P(chi2_degrees > x) <= failure / comparisons: Laurent, Massart (2000), lemma 1,
/// P(chi2_k >= k + 2 sqrt(k t) + 2 t) <= exp(-t).
inline double chi_square_threshold(double degrees, double failure = kFailure,
                                   double comparisons = 1) {
  const double t = std::log(comparisons / failure);
  return degrees + 2.0 * std::sqrt(degrees * t) + 2.0 * t;
}

/// Pearson's sum (observed - expected)^2 / expected over cells of equal probability: chi2 with
/// cells - 1 degrees in the limit; expect at least a few hundred counts per cell.
template <class Count>
double chi_square_uniform(const std::vector<Count>& counts) {
  double total = 0.0;
  for (const Count count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  double sum = 0.0;
  for (const Count count : counts) {
    const double difference = static_cast<double>(count) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

/// (mean of the sample - mean) / sqrt(variance / n): N(0,1) when mean and variance are those of the
/// law.
inline double mean_z_score(std::span<const double> sample, double mean, double variance) {
  double sum = 0.0;
  for (const double x : sample) sum += x - mean;
  return sum / std::sqrt(variance * static_cast<double>(sample.size()));
}

/// The same for (x - mean)^2, whose mean is the variance and whose variance is fourth_moment -
/// variance^2, with fourth_moment the law's central one.
inline double variance_z_score(std::span<const double> sample, double mean, double variance,
                               double fourth_moment) {
  double sum = 0.0;
  for (const double x : sample) sum += (x - mean) * (x - mean) - variance;
  const double spread = fourth_moment - variance * variance;
  return sum / std::sqrt(spread * static_cast<double>(sample.size()));
}

/// The z-score of a sample's mean when the variance is not known: Student's statistic, N(0,1) in
/// the limit.
inline double studentised_z_score(std::span<const double> sample, double mean) {
  const double n = static_cast<double>(sample.size());
  double average = 0.0, squares = 0.0;
  for (const double x : sample) average += x / n;
  for (const double x : sample) squares += (x - average) * (x - average);
  return (average - mean) / std::sqrt(squares / (n - 1) / n);
}

}  // namespace mercer::test
