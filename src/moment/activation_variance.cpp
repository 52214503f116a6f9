// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The square of a column's share is again a moment of its kind: (2 u_+^n v_+^n)^2 = 2 (2 u_+^{2n}
// v_+^{2n}), and sign(u)^2 sign(v)^2 = 1 almost surely.
#include "moment/activation_variance.h"

#include "kernel/arc_cosine.h"

namespace mercer::moment {

double arc_cosine_variance(int64_t order, const kernel::Angle& angle, int64_t D) noexcept {
  const int n = static_cast<int>(order);
  const double k = kernel::arc_cosine_moment(n, angle);
  const double difference = 2 * kernel::arc_cosine_moment(2 * n, angle) - k * k;
  // Rounding takes the difference of rows that are opposite below 0.
  return (difference < 0 ? 0 : difference) / static_cast<double>(D);
}

// 1 - k^2 = (1 - k)(1 + k) with k = (rest - theta)/pi and rest + theta = pi: no cancellation.
double sign_variance(const kernel::Angle& angle, int64_t D) noexcept {
  constexpr double kFour = 0.40528473456935108578;  // 4/pi^2
  return kFour * angle.theta * angle.rest / static_cast<double>(D);
}

}  // namespace mercer::moment
