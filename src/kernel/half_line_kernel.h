// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels of rows without negative entries that are a function of a sum or product over the
// coordinates: k(x, y) = variance * finish(join_j term(x_j, y_j)); NaN where an entry is negative.
#pragma once

#include "base/numbers.h"
#include "kernel/entry.h"
#include "kernel/lane_fold.h"

namespace mercer::kernel {

/// Derived offers  double term(x, y) const  for x, y >= 0, symmetric, and, unless it is the joined
/// value itself,  double finish(joined) const.
template <class Derived, class Join>
class HalfLineKernel : public Kernel {
 public:
  double value(int64_t d, const double* x, const double* y) const noexcept final {
    const auto& self = static_cast<const Derived&>(*this);
    return variance() * self.finish(lane_fold<Join>(d, [&](int64_t j) {
      return x[j] >= 0 && y[j] >= 0 ? self.term(x[j], y[j]) : kNaN;
    }));
  }
  std::optional<InputBound> input_bound() const noexcept final { return InputBound{0, false}; }
  double finish(double joined) const noexcept { return joined; }

 protected:
  using Kernel::Kernel;
};

}  // namespace mercer::kernel
