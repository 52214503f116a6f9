// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// tan(theta / 2) = ||u - v|| / ||u + v|| for unit vectors u and v (Kahan, "How futile are mindless
// assessments of roundoff", 2006, section 12).
#include "kernel/angle.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "kernel/inner_product.h"

namespace mercer::kernel {
namespace {

// ||x|| = unit * root. The unit is 1 where squares neither overflow nor vanish.
struct Norm {
  double unit;
  double root;
  double value() const noexcept { return unit * root; }
};

Norm norm_of(int64_t d, const double* x) noexcept {
  const double squares = inner_product(d, x, x);
  if (squares > 1e-200 && squares < 1e200) return {1, std::sqrt(squares)};
  double largest = 0;
  for (int64_t j = 0; j < d; ++j) {
    if (!std::isfinite(x[j])) return {1, kNaN};
    largest = std::max(largest, std::fabs(x[j]));
  }
  if (largest == 0) return {1, 0};
  double scaled = 0;
  for (int64_t j = 0; j < d; ++j) scaled += (x[j] / largest) * (x[j] / largest);
  return {largest, std::sqrt(scaled)};
}

}  // namespace

Angle angle_between(int64_t d, const double* x, const double* y) noexcept {
  constexpr double kRight = 1.5707963267948966192;  // pi/2
  const Norm a = norm_of(d, x), b = norm_of(d, y);
  if (std::isnan(a.root) || std::isnan(b.root)) return {kNaN, kNaN, kNaN, kNaN};
  if (a.root == 0 && b.root == 0) return {0, 0, 0, 2 * kRight};
  if (a.root == 0 || b.root == 0) return {a.value(), b.value(), kRight, kRight};
  const double p = 1 / a.root, q = 1 / b.root;
  const double sine = std::sqrt(lane_fold<Sum>(d, [=](int64_t j) noexcept {
    const double apart = x[j] / a.unit * p - y[j] / b.unit * q;
    return apart * apart;
  }));
  const double cosine = std::sqrt(lane_fold<Sum>(d, [=](int64_t j) noexcept {
    const double along = x[j] / a.unit * p + y[j] / b.unit * q;
    return along * along;
  }));
  return {a.value(), b.value(), 2 * std::atan2(sine, cosine), 2 * std::atan2(cosine, sine)};
}

}  // namespace mercer::kernel
