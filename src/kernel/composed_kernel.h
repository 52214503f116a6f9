// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Shared by sums and products of kernels: their parts, each with its own parameters.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kernel/entry.h"

namespace mercer::kernel {

class ComposedKernel : public Kernel {
 public:
  std::optional<Composition> composition() const noexcept final {
    return Composition{rule_, parts_};
  }
  /// The least order among those of the parts.
  int64_t most_derivatives() const noexcept final;
  const PowerSeries* series() const noexcept final { return series_.get(); }
  const random::Law* spectral_law() const noexcept final { return law_.get(); }
  double value_at_zero() const noexcept final;
  void compute(MatrixView<const double> X, MatrixView<const double> Y,
               MatrixView<double> K) const final;
  double value_at_multiple(double multiple, int64_t d, const double* x,
                           const double* y) const noexcept final;

 protected:
  ComposedKernel(const Parameters& canonical, Composition::Rule rule);
  std::span<const std::shared_ptr<const Kernel>> parts() const noexcept { return parts_; }

 private:
  /// Adds up or multiplies of(part) over all parts.
  template <class Of>
  double joined(const Of& of) const noexcept;

  Composition::Rule rule_;
  std::vector<std::shared_ptr<const Kernel>> parts_;
  std::unique_ptr<const PowerSeries> series_;
  std::shared_ptr<const random::Law>
      law_;  // null where the parts' distributions cannot be combined
};

/// Of a whole with parts that are callbacks: in turn, unless each may be called at once.
inline void take_calls(const Kernel& part, KernelTraits& whole) noexcept {
  if (part.traits().calls == Calls::none) return;
  whole.calls =
      whole.calls == Calls::none ? part.traits().calls : std::min(whole.calls, part.traits().calls);
}

/// "parts": from two to kMostParts kernel specs.
Field parts_field(const char* help);

/// The sum of parts of which some have several outputs.
std::unique_ptr<Kernel> make_output_sum(const Parameters& canonical);

/// The entry of such a kernel, whose map has its name.
template <class Kind>
KernelEntry composed_entry(const char* name, const char* help, const char* of_parts) {
  return entry_of<Kind>(name, help, {parts_field(of_parts)}, name);
}

inline constexpr int kMostParts = 64;

}  // namespace mercer::kernel
