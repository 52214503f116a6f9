// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// k(x, y) = E sign(w'x) sign(w'y) = 1 - 2 theta/pi, w ~ N(0, I) (Goemans, Williamson 1995, lemma
// 3.2; Charikar 2002), sign(0) = 1: rows of zeros have 0 with others, 1 with each other.
#include "base/numbers.h"
#include "kernel/angle.h"
#include "kernel/entry.h"

namespace mercer::kernel {
namespace {

class Sign final : public Kernel {
 public:
  explicit Sign(const Parameters& canonical) : Kernel(canonical) {}

  std::optional<Activation> activation() const noexcept override {
    return Activation{Activation::Function::sign, 0};
  }
  // theta + rest = pi.
  double value(int64_t d, const double* x, const double* y) const noexcept override {
    const Angle angle = angle_between(d, x, y);
    return variance() * ((angle.rest - angle.theta) * kInversePi);
  }
};

}  // namespace

KernelEntry sign_entry() {
  return entry_of<Sign>("sign", "1 - 2 angle/pi: E sign(w'x) sign(w'y) of normal w", {}, "sign");
}

}  // namespace mercer::kernel
