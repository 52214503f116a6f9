// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Laws of independent, equal coordinates >= 0 of kernels E exp(-omega'(x + y)).
#pragma once

#include <algorithm>

#include "kernel/entry.h"
#include "random/law.h"

namespace mercer::kernel {

/// scale times what kFill draws.
template <auto kFill>
class LaplaceLaw : public random::Law {
 public:
  explicit LaplaceLaw(double scale) : scale_(scale) {}
  // Heavy tails stay finite as floats: 0 times infinity would be NaN. An entry this large takes a
  // kernel value of 0 from any input above 1e-34.
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept final {
    constexpr double kMost = 1e37;
    kFill(stream, 0, omega);
    for (double& w : omega) w = std::min(scale_ * w, kMost);
  }
  bool isotropic() const noexcept final { return false; }
  bool is_product() const noexcept final { return false; }  // not symmetric about 0

 private:
  double scale_;
};

/// A parameter whose square and inverse are normal numbers.
inline Field semigroup_field(const char* key, const char* help) {
  return {.key = key,
          .type = FieldType::number,
          .fallback = 1.0,
          .least = 1e-100,
          .most = 1e100,
          .help = help};
}

}  // namespace mercer::kernel
