// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With T the mean's deviation over its standard error and a = skewness / (3 sqrt(n)),
//   ((1 + a T)^3 - 1) / (3 a) + a / 2
// is nearly normal; it grows with T, so that its quantiles give those of T.
#include "statistic/mean_bounds.h"

#include <cmath>
#include <vector>

#include "base/numbers.h"
#include "random/scalar_math.h"

namespace mercer::statistic {
namespace {

struct Moments {
  double mean = 0, error = 0, skew = 0;  // of the mean; a above
};

Moments moments(std::span<const double> draws) {
  const auto n = static_cast<double>(draws.size());
  Moments out;
  for (const double x : draws) out.mean += x / n;
  double squares = 0, cubes = 0;
  for (const double x : draws) {
    const double deviation = x - out.mean;
    squares += deviation * deviation;
    cubes += deviation * deviation * deviation;
  }
  out.error = std::sqrt(squares / (n * (n - 1)));
  if (squares > 0) out.skew = cubes / n / std::pow(squares / n, 1.5) / std::sqrt(n) / 3;
  return out;
}

/// The quantile of Student's distribution at a normal quantile, to order 1/n^2.
double student(double z, double degrees) {
  return z + (z * z * z + z) / (4 * degrees) +
         (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * degrees * degrees);
}

/// T where the transform is q.
double inverse(double a, double q) {
  if (std::fabs(a) < 1e-9) return q;
  return (std::cbrt(1 + 3 * a * (q - a / 2)) - 1) / a;
}

}  // namespace

Bounds mean_bounds(std::span<const double> draws, double alpha) {
  const Moments m = moments(draws);
  const double q =
      student(random::normal_quantile(1 - alpha), static_cast<double>(draws.size()) - 1);
  return {m.mean - m.error * inverse(m.skew, q), m.mean - m.error * inverse(m.skew, -q)};
}

Bounds quotient_bounds(std::span<const double> numerators, std::span<const double> denominators,
                       double alpha) {
  std::vector<double> differences(numerators.size());
  double above = 0, below = 0;
  for (size_t i = 0; i < numerators.size(); ++i) {
    above += numerators[i];
    below += denominators[i];
  }
  const auto may_be = [&](double quotient) {
    for (size_t i = 0; i < differences.size(); ++i)
      differences[i] = numerators[i] - quotient * denominators[i];
    const Bounds mean = mean_bounds(differences, alpha / 2);
    return mean.low <= 0 && mean.high >= 0;
  };
  const double estimate = above / below;
  double inside = estimate, outside = 0;
  for (int step = 0; step < 60; ++step) {
    const double middle = (inside + outside) / 2;
    (may_be(middle) ? inside : outside) = middle;
  }
  Bounds out{inside, kInfinity};
  double factor = 1;
  while (factor < 1e6 && may_be(estimate * factor)) factor *= 1.5;
  if (!(factor < 1e6)) return out;
  inside = estimate, outside = estimate * factor;
  for (int step = 0; step < 60; ++step) {
    const double middle = (inside + outside) / 2;
    (may_be(middle) ? inside : outside) = middle;
  }
  out.high = outside;
  return out;
}

}  // namespace mercer::statistic
