// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// With u = omega'tau ~ N(0, s^2), k = exp(-s^2/2), a bit differs with probability E |cos(b) - cos(b
// + u)|/2 = (2/pi) |sin(u/2)| over the threshold and b, so that the share is (2/pi) E |sin(u/2)|;
// the series is that of |sin|. It has about 9/s terms above rounding. For s <= 3/4, |u| is below 2
// pi with probability 1 - 1e-16, so the share is (2/pi) E sin(|u|/2), whose power series in s,
// s/sqrt(2 pi) sum_i (-s^2/4)^i/(3 5 ... (2i + 1)), takes a dozen terms.
#include "moment/code_share.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mercer::moment {
namespace {

constexpr double kTwoOverPi = 2 / std::numbers::pi;
constexpr double kSmall = 0.75;
// exp(-s^2/2) is 0 beyond.
constexpr double kLargest = 40;

struct Share {
  double value;
  double slope;  // its derivative by s
};

// E sin(|u|/2) is (2/sqrt pi) D(s/sqrt 8) with D' (x) = 1 - 2x D(x), Dawson's.
Share small_share(double s) noexcept {
  double term = s / std::sqrt(2 * std::numbers::pi), sum = term;
  for (int i = 1; std::fabs(term) > 1e-18 * sum; ++i) sum += term *= -s * s / 4 / (2 * i + 1);
  return {kTwoOverPi * sum, kTwoOverPi * (1 / std::sqrt(2 * std::numbers::pi) - s * sum / 4)};
}

Share large_share(double s) noexcept {
  double sum = 0.5, slope = 0;
  for (double m = 1;; ++m) {
    const double power = std::exp(-m * m * s * s / 2);
    if (power < 1e-18) break;
    sum -= power / (4 * m * m - 1);
    slope += m * m * s * power / (4 * m * m - 1);
  }
  return {2 * kTwoOverPi * kTwoOverPi * sum, 2 * kTwoOverPi * kTwoOverPi * slope};
}

Share share_at(double s) noexcept { return s <= kSmall ? small_share(s) : large_share(s); }

}  // namespace

double gaussian_code_share(double k) noexcept {
  if (std::isnan(k)) return k;
  if (k >= 1) return 0;
  return k > 0 ? share_at(std::sqrt(-2 * std::log(k))).value : kTwoOverPi * kTwoOverPi;
}

// The share increases with s: Newton's method, with a bisection wherever a step leaves the
// interval.
double gaussian_from_code_share(double share) noexcept {
  if (!(share > 0)) return std::isnan(share) ? share : 1;
  if (share >= share_at(kLargest).value) return 0;
  double low = 0, high = kLargest, s = 1;
  for (int step = 0; step < 100; ++step) {
    const Share at = share_at(s);
    (at.value < share ? low : high) = s;
    const double newton = s + (share - at.value) / at.slope;
    const double next = newton > low && newton < high ? newton : (low + high) / 2;
    if (std::fabs(next - s) <= 1e-15 * s) break;
    s = next;
  }
  return std::exp(-s * s / 2);
}

}  // namespace mercer::moment
