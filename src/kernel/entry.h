// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Helpers with which the files of kernels define their entries.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "kernel/kernel.h"

namespace mercer::kernel {

// Sums and products over the inputs of two rows. Independent lanes let the compiler vectorise in a
// fixed order, symmetric in x and y where the terms are.

/// How terms are joined: the neutral element and the operation.
struct Sum {
  static constexpr double kEmpty = 0;
  static double join(double a, double b) noexcept { return a + b; }
};
struct Product {
  static constexpr double kEmpty = 1;
  static double join(double a, double b) noexcept { return a * b; }
};

/// term(0), ..., term(d - 1), joined.
template <class Join, class Term>
double lane_fold(int64_t d, const Term& term) noexcept {
  constexpr int64_t kLanes = 8;
  double lane[kLanes];
  for (double& l : lane) l = Join::kEmpty;
  int64_t j = 0;
  for (; j + kLanes <= d; j += kLanes) {
    for (int64_t l = 0; l < kLanes; ++l) lane[l] = Join::join(lane[l], term(j + l));
  }
  for (int64_t l = 0; j < d; ++j, ++l) lane[l] = Join::join(lane[l], term(j));
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t l = 0; l < width; ++l) lane[l] = Join::join(lane[l], lane[l + width]);
  }
  return lane[0];
}

// Products over all inputs but one, for each of them, without a division: by halves of the inputs,
// and halves of these, each with the product of all inputs outside. O(d log d) joins, and no memory
// beside the stack.

/// Calls leaf(k, state) for k in [first, last), state being `outside` joined with all inputs of the
/// range but k; join(state, j) joins input j.
template <class State, class Join, class Leaf>
void leave_one_out(int64_t first, int64_t last, const State& outside, const Join& join,
                   const Leaf& leaf) noexcept {
  if (last - first <= 1) {
    if (first < last) leaf(first, outside);
    return;
  }
  const int64_t middle = first + (last - first) / 2;
  State state = outside;
  for (int64_t j = middle; j < last; ++j) join(state, j);
  leave_one_out(first, middle, state, join, leaf);
  state = outside;
  for (int64_t j = first; j < middle; ++j) join(state, j);
  leave_one_out(middle, last, state, join, leaf);
}

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
