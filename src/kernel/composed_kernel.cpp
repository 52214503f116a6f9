// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "kernel/composed_kernel.h"

#include <algorithm>
#include <utility>

#include "kernel/composed_law.h"
#include "kernel/composed_series.h"

namespace mercer::kernel {

ComposedKernel::ComposedKernel(const Parameters& canonical, Composition::Rule rule)
    : Kernel(canonical), rule_(rule) {
  for (const auto& part : canonical.objects("parts")) parts_.push_back(make_kernel(*part));
  series_ = composed_series({rule_, parts_}, variance());
  law_ = rule_ == Composition::Rule::sum ? mixture_of(parts_) : convolution_of(parts_);
}

template <class Of>
double ComposedKernel::joined(const Of& of) const noexcept {
  const bool adds = rule_ == Composition::Rule::sum;
  double whole = adds ? 0 : 1;
  for (const auto& part : parts_) whole = adds ? whole + of(*part) : whole * of(*part);
  return variance() * whole;
}

double ComposedKernel::value_at_zero() const noexcept {
  return joined([](const Kernel& part) { return part.value_at_zero(); });
}

double ComposedKernel::value_at_multiple(double multiple, int64_t d, const double* x,
                                         const double* y) const noexcept {
  if (law_ == nullptr) return Kernel::value_at_multiple(multiple, d, x, y);
  return joined([=](const Kernel& part) { return part.value_at_multiple(multiple, d, x, y); });
}

int64_t ComposedKernel::most_derivatives() const noexcept {
  int64_t least = parts_.front()->most_derivatives();
  for (const auto& part : parts_) least = std::min(least, part->most_derivatives());
  return least;
}

std::optional<InputBound> ComposedKernel::input_bound() const noexcept {
  std::optional<InputBound> strictest;
  for (const auto& part : parts_) {
    const std::optional<InputBound> bound = part->input_bound();
    if (bound && (!strictest || strictest->least < bound->least ||
                  (strictest->least == bound->least && bound->open)))
      strictest = bound;
  }
  return strictest;
}

Field parts_field(const char* help) {
  return {.key = "parts",
          .type = FieldType::kernels,
          .fallback = {},
          .least = 2,
          .most = kMostParts,
          .help = help,
          .canonical = canonical_scalar_kernel};
}

}  // namespace mercer::kernel
