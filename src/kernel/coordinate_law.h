// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Laws of independent, equal coordinates that have a fill function; Derived adds the quantile.
#pragma once

#include "random/distributions.h"
#include "random/law.h"

namespace mercer::kernel {

template <auto kFill>
class CoordinateLaw : public random::Law {
 public:
  void draw(const random::Stream& stream, std::span<double> omega) const noexcept final {
    kFill(stream, 0, omega);
  }
  bool isotropic() const noexcept final { return false; }
  bool is_product() const noexcept final { return true; }
};

}  // namespace mercer::kernel
