// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k_n(x, y) = ||x||^n ||y||^n J_n(theta) / pi, the kernel of a layer of neurons (w'x)_+^n with
// normal weights (Cho, Saul, "Kernel methods for deep learning", NIPS 2009, eq. 1 to 6). No paper
// gives J_4: it is their recursion J_n = (-1)^n sin^{2n+1} (1/sin d/dtheta)^n ((pi - theta)/sin)
// carried on, and the variance of order 2 needs it.
#include "kernel/arc_cosine.h"

#include <cmath>

#include "base/numbers.h"
#include "kernel/entry.h"

namespace mercer::kernel {
namespace {

constexpr double kMostOrder = 2;

// J_n(pi - rest): near pi it is O(rest^{2n+1}), and the terms cancel.
double angular(int n, double theta, double rest) noexcept {
  const double s = std::sin(std::fmin(theta, rest)),
               c = theta < rest ? std::cos(theta) : -std::cos(rest);
  const double cc = c * c;
  switch (n) {
    case 0:
      return rest;
    case 1:
      return s + rest * c;
    case 2:
      return 3 * s * c + rest * (1 + 2 * cc);
    case 4:
      return 5 * s * c * (11 + 10 * cc) + rest * (9 + cc * (72 + 24 * cc));
    default:
      return kNaN;
  }
}

class ArcCosine final : public Kernel {
 public:
  explicit ArcCosine(const Parameters& canonical)
      : Kernel(canonical), order_(canonical.integer("order")) {}

  std::optional<Activation> activation() const noexcept override {
    return Activation{Activation::Function::positive_power, order_};
  }
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    return variance() * arc_cosine_moment(static_cast<int>(order_), angle_between(d, x, y));
  }

 private:
  int64_t order_;
};

}  // namespace

double arc_cosine_moment(int n, const Angle& angle) noexcept {
  if (angle.has_zeros()) return 0;
  const double J = angular(n, angle.theta, angle.rest);
  // Negative only by cancellation.
  return std::pow(angle.x * angle.y, n) * (J < 0 ? 0 : J) * kInversePi;
}

KernelEntry arc_cosine_entry() {
  return entry_of<ArcCosine>(
      "arc_cosine", "||x||^n ||y||^n J_n(angle)/pi, n = order: 2 E (w'x)_+^n (w'y)_+^n of normal w",
      {integer_field("order", int64_t{1}, 0, kMostOrder,
                     "power n of the neurons: 0 steps, 1 ramps, 2 squared ramps")},
      "arc_cosine");
}

}  // namespace mercer::kernel
