// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels E exp(-omega'(x + y)) of rows without negative entries, omega with independent, equal
// coordinates >= 0.
#pragma once

#include <algorithm>

#include "kernel/half_line_kernel.h"
#include "random/law.h"

namespace mercer::kernel {

/// scale times what kFill draws.
template <auto kFill>
class LaplaceLaw final : public random::Law {
 public:
  explicit LaplaceLaw(double scale) : scale_(scale) {}
  // Heavy tails stay finite as floats: 0 times infinity would be NaN. An entry this large takes a
  // kernel value of 0 from any input above 1e-34.
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept override {
    constexpr double kMost = 1e37;
    kFill(stream, 0, omega);
    for (double& w : omega) w = std::min(scale_ * w, kMost);
  }
  bool isotropic() const noexcept override { return false; }
  bool is_product() const noexcept override { return false; }  // not symmetric about 0

 private:
  double scale_;
};

template <class Derived, class Join, auto kFill>
class SemigroupKernel : public HalfLineKernel<Derived, Join> {
 public:
  const random::Law* laplace_law() const noexcept final { return &law_; }

 protected:
  SemigroupKernel(const Parameters& canonical, double scale)
      : HalfLineKernel<Derived, Join>(canonical), law_(scale) {}

 private:
  LaplaceLaw<kFill> law_;
};

/// The entry of such a kernel with one parameter, whose square and inverse are normal numbers.
template <class Kind>
KernelEntry semigroup_entry(const char* name, const char* help, const char* key,
                            const char* key_help) {
  return entry_of<Kind>(name, help, {number_field(key, 1.0, 1e-100, 1e100, key_help)}, "laplace");
}

}  // namespace mercer::kernel
