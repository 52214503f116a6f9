// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Means and deviations are over all values, the observed one included: so they do not tell it
// apart, and the largest of standardised statistics is as exchangeable as each of them (Westfall,
// Young 1993). What differs by rounding counts as equal, which can only raise p.
#include "statistic/p_value.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/numbers.h"
#include "random/scalar_math.h"

namespace mercer::statistic {
namespace {

constexpr double kEqual = 1e-9;         // standard deviations
constexpr double kMostCombined = 0.99;  // p = 1 would outweigh any other
constexpr int kFractionTerms = 500;
constexpr double kNearlyNormal = 1e3;  // shapes beyond

std::vector<double> all_standardised(const PermutationValues& statistic) {
  std::vector<double> out = statistic.values;
  const auto count = static_cast<double>(out.size());
  double mean = 0, squares = 0;
  for (const double value : out) mean += value / count;
  for (const double value : out) squares += (value - mean) * (value - mean) / count;
  const double deviation = std::sqrt(squares);
  for (double& value : out)
    value = deviation > statistic.rounding ? (value - mean) / deviation : 0.0;
  return out;
}

double share_at_least_first(const std::vector<double>& values) {
  const auto reach =
      std::ranges::count_if(values, [&](double value) { return value >= values.front() - kEqual; });
  return static_cast<double>(reach) / static_cast<double>(values.size());
}

/// P(G > x) for G of shape a; x > a + 1: the continued fraction, from its end (Abramowitz, Stegun
/// 6.5.31).
double upper_gamma(double a, double x) {
  const double log_factor = a * std::log(x) - x;
  if (x <= a + 1)
    return 1 - random::lower_gamma_series(a, x) * std::exp(log_factor - log_gamma(a + 1));
  double fraction = 0;
  for (int k = kFractionTerms; k >= 1; --k) fraction = (k - a) / (1 + k / (x + fraction));
  return std::exp(log_factor - log_gamma(a)) / (x + fraction);
}

}  // namespace

double p_value(const PermutationValues& statistic) {
  return share_at_least_first(all_standardised(statistic));
}

double p_value_of_largest(std::span<const PermutationValues> statistics) {
  std::vector<double> largest(statistics.front().values.size(), -kInfinity);
  for (const PermutationValues& one : statistics) {
    const std::vector<double> values = all_standardised(one);
    for (size_t b = 0; b < largest.size(); ++b) largest[b] = std::max(largest[b], values[b]);
  }
  return share_at_least_first(largest);
}

double combined_p_value(std::span<const double> p_values) {
  double sum = 0;
  for (const double p : p_values)
    sum += std::tan((0.5 - std::min(p, kMostCombined)) * std::numbers::pi);
  return 0.5 - std::atan(sum / static_cast<double>(p_values.size())) / std::numbers::pi;
}

double normal_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

double gamma_tail(double z, double skewness) {
  const double shape = 4 / (skewness * skewness), x = shape + z * std::sqrt(shape);
  if (x <= 0) return 1;
  if (shape < kNearlyNormal) return upper_gamma(shape, x);
  const double ninth = 1 / (9 * shape);  // Wilson, Hilferty 1931
  return normal_tail((std::cbrt(x / shape) - 1 + ninth) / std::sqrt(ninth));
}

}  // namespace mercer::statistic
