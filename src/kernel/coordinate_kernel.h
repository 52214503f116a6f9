// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Kernels that are a function of a sum or product over the input's coordinates, which is every
// shift-invariant one here: k(x, y) = variance * finish(join_j term(x_j, y_j, scale_j)), scale_j =
// multiple / lengthscale_j.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel/entry.h"
#include "kernel/lane_fold.h"

namespace mercer::kernel {

/// Derived offers  double term(x, y, scale) const  and  double finish(joined) const.
template <class Derived, class Join>
class CoordinateKernel : public Kernel {
 public:
  double value(int64_t d, const double* x, const double* y) const noexcept final {
    return value_at_multiple(1, d, x, y);
  }

  double value_at_multiple(double multiple, int64_t d, const double* x,
                           const double* y) const noexcept final {
    return variance() * self().finish(joined(multiple, d, x, y));
  }

  double log_size(int64_t d, const double* x, const double* y) const noexcept final {
    if constexpr (requires(const Derived& own) { own.log_finish(0.0); }) {
      return std::log(variance()) + self().log_finish(joined(1, d, x, y));
    } else {
      return Kernel::log_size(d, x, y);
    }
  }

 protected:
  explicit CoordinateKernel(const Parameters& canonical) : Kernel(canonical) {
    for (const double l : lengthscale()) inverse_.push_back(1 / l);
    if (inverse_.empty()) inverse_.push_back(1);
  }
  /// 1/l_k.
  double inverse(int64_t k) const noexcept {
    return inverse_[inverse_.size() > 1 ? static_cast<size_t>(k) : 0];
  }

 private:
  const Derived& self() const noexcept { return static_cast<const Derived&>(*this); }

  double joined(double multiple, int64_t d, const double* x, const double* y) const noexcept {
    if (inverse_.size() > 1)
      return lane_fold<Join>(
          d, [&](int64_t j) { return self().term(x[j], y[j], multiple * inverse_[j]); });
    return lane_fold<Join>(d, [&, scale = multiple * inverse_[0]](int64_t j) {
      return self().term(x[j], y[j], scale);
    });
  }

  std::vector<double> inverse_;  // 1/lengthscale; one 1 if there is none
};

/// A coordinate kernel with its own spectral law, made from the arguments after the parameters.
template <class Derived, class Join, class Law>
class SpectralKernel : public CoordinateKernel<Derived, Join> {
 public:
  const random::Law* spectral_law() const noexcept final { return &law_; }

 protected:
  template <class... Argument>
  explicit SpectralKernel(const Parameters& canonical, const Argument&... of_law)
      : CoordinateKernel<Derived, Join>(canonical), law_(of_law...) {}

 private:
  Law law_;
};

}  // namespace mercer::kernel
