// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The share of differing bits against its series, term by term; its inverse.
#include "feature/binary_codes.h"
#include "support/catch.h"

namespace code_share_test {
using mercer::feature::gaussian_from_code_share, mercer::feature::profile_code_share,
    mercer::feature::profile_from_code_share;

constexpr double kScale = 8 / (std::numbers::pi * std::numbers::pi);

// sum_{m>M} 1/(4 m^2 - 1) = 1/(4 M + 2): what is left where k^(m^2) is 0.
double series(double k) {
  double sum = 0;
  int64_t m = 1;
  for (;; ++m) {
    const auto x = static_cast<double>(m);
    const double power = std::pow(k, x * x);
    if (power < 1e-17) break;
    sum += (1 - power) / (4 * x * x - 1);
  }
  return kScale * (sum + 1 / (4 * static_cast<double>(m - 1) + 2));
}

TEST_CASE("code share: the kernel from its series, to what rounding of the share allows") {
  double worst = 0;
  for (double s = 0.01; s < 8; s *= 1.01) {
    const double k = std::exp(-s * s / 2);
    worst = std::max(worst, std::fabs(gaussian_from_code_share(series(k)) - k));
  }
  // dk = -s k ds; 900 terms of the series err by 4e-15, and its slope in s is 1/4 at s = 1, where
  // s k is largest, and falls less than k.
  CHECK(worst <= 4e-14);
  // Near points: (2/pi) E sin(|u|/2), u ~ N(0, s^2), is sqrt(2/pi^3) s (1 - s^2/12) up to s^5/240.
  const double slope = std::sqrt(2 / std::numbers::pi) / std::numbers::pi;
  for (const double s : {1e-8, 1e-5, 1e-3})
    CHECK(gaussian_from_code_share(slope * s * (1 - s * s / 12)) ==
          Approx(std::exp(-s * s / 2)).epsilon(1e-15));
  CHECK(gaussian_from_code_share(0) == 1);
  CHECK(gaussian_from_code_share(-0.1) == 1);
  CHECK(gaussian_from_code_share(kScale / 2) <= 1e-15);
  CHECK(gaussian_from_code_share(1) == 0);
  CHECK(std::isnan(gaussian_from_code_share(std::numeric_limits<double>::quiet_NaN())));
  double before = 2;
  for (double share = 0; share < 0.41; share += 1e-3) {
    const double k = gaussian_from_code_share(share);
    REQUIRE((k < before || (k == 0 && before == 0)));
    before = k;
  }
}

// sum k^m/(4m^2 - 1) in closed form, of artanh: kernels exp(-t).
TEST_CASE("code share: of kernels that fall with a norm, against closed forms") {
  const auto exponential = [](double t) { return std::exp(-t); };
  const auto gaussian = [](double t) { return std::exp(-t * t / 2); };
  double worst = 0, back = 0;
  for (double t = 1e-7; t < 30; t *= 1.3) {
    const double k = std::exp(-t), root = std::sqrt(k);
    const double share = kScale / 2 * -std::expm1(-t) / root * 0.5 *
                         (std::log1p(root) - std::log(-std::expm1(-t / 2)));
    worst = std::max(worst, std::fabs(profile_code_share(exponential, t) - share));
    back = std::max(back, std::fabs(profile_from_code_share(exponential, share) - k));
    if (t < 0.01) continue;  // the series would be long
    const double other = series(gaussian(t));
    worst = std::max(worst, std::fabs(profile_code_share(gaussian, t) - other));
    back = std::max(back, std::fabs(profile_from_code_share(gaussian, other) - gaussian(t)));
  }
  CHECK(worst <= 1e-9);
  CHECK(back <= 1e-8);
  CHECK(profile_from_code_share(exponential, 0) == 1);
  CHECK(profile_from_code_share(exponential, kScale / 2) == 0);
  CHECK(std::isnan(profile_from_code_share(exponential, std::nan(""))));
  // So heavy a tail never comes to a share that is as large.
  CHECK(profile_from_code_share([](double t) { return std::pow(1 + t, -1e-3); }, 0.4) > 0.49);
}

}  // namespace code_share_test
