// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Helpers with which the files of kernels define their entries.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "kernel/kernel.h"
#include "kernel/lane_fold.h"

namespace mercer::kernel {

/// Lengthscales outside these bounds are refused: within, 1/lengthscale neither overflows nor is
/// subnormal.
inline constexpr double kLeastLengthscale = 1e-300;
inline constexpr double kMostLengthscale = 1e300;

/// A finite number > 0.
Field positive_field(const char* key, double fallback, const char* help);
Field lengthscale_field();
/// "scalar", default gaussian: the kernel of one output from which a kernel of several is built.
Field scalar_field();

/// A Differential that calls value(d, x, y), which does not throw.
template <class Value>
std::unique_ptr<const Differential> make_differential(Value value) {
  class Closure final : public Differential {
   public:
    explicit Closure(Value own) : value_(std::move(own)) {}
    double at(int64_t d, const double* x, const double* y) const noexcept override {
      return value_(d, x, y);
    }

   private:
    Value value_;
  };
  return std::make_unique<const Closure>(std::move(value));
}

/// The entry of a kernel whose constructor takes its canonical parameters.
template <class Kind>
KernelEntry entry_of(const char* name, const char* help, std::vector<Field> fields,
                     const char* default_map = "fourier") {
  return {name, help, std::move(fields),
          [](const Parameters& canonical) -> std::unique_ptr<Kernel> {
            return std::make_unique<Kind>(canonical);
          },
          default_map};
}

// x'y for dot-product kernels, symmetric in x and y to the bit.

inline double inner_product(int64_t d, const double* x, const double* y) noexcept {
  return lane_fold<Sum>(d, [=](int64_t j) noexcept { return x[j] * y[j]; });
}

}  // namespace mercer::kernel
