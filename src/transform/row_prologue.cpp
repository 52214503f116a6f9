// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "transform/row_prologue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mercer::transform {
namespace {

// ||x|| = largest * root, kept apart so that neither a square nor the norm overflows or underflows.
// NaN if an entry is NaN.
struct Norm {
  double largest;
  double root;
};

template <class T>
Norm norm_of(const T* x, int64_t count) noexcept {
  double largest = 0;
  for (int64_t k = 0; k < count; ++k)
    largest = std::max(largest, std::fabs(static_cast<double>(x[k])));
  if (largest == 0 || std::isinf(largest)) largest = 1;
  double squares = 0;
  for (int64_t k = 0; k < count; ++k) {
    const double scaled = static_cast<double>(x[k]) / largest;
    squares += scaled * scaled;
  }
  return {largest, squares == 0 ? 1 : std::sqrt(squares)};
}

}  // namespace

std::shared_ptr<const RowPrologue> log_shift_prologue(double shift) {
  return make_prologue(
      {.rewrites = true},
      [shift]<class T>(const T* x, int64_t count, T* out, T*) noexcept {
        for (int64_t k = 0; k < count; ++k)
          out[k] = static_cast<T>(std::log(static_cast<double>(x[k]) + shift));
      },
      log_shift_derivative(shift));
}

std::shared_ptr<const RowPrologue> half_line_prologue() {
  return make_prologue(
      {.rewrites = true, .keeps_zeros = true},
      []<class T>(const T* x, int64_t count, T* out, T*) noexcept {
        for (int64_t k = 0; k < count; ++k) {
          const bool inside = x[k] >= 0 && x[k] <= std::numeric_limits<T>::max();
          out[k] = inside ? x[k] : std::numeric_limits<T>::quiet_NaN();
        }
      },
      plain_derivative());
}

std::shared_ptr<const RowPrologue> centre_prologue(std::vector<double> means) {
  return make_prologue({.rewrites = true}, [means = std::move(means)]<class T>(
                                               const T* x, int64_t count, T* out, T*) noexcept {
    for (int64_t k = 0; k < count; ++k)
      out[k] = static_cast<T>(static_cast<double>(x[k]) - means[static_cast<size_t>(k)]);
  });
}

std::shared_ptr<const RowPrologue> binary_prologue(double threshold) {
  return make_prologue({.rewrites = true, .keeps_zeros = threshold >= 0},
                       [threshold]<class T>(const T* x, int64_t count, T* out, T*) noexcept {
                         for (int64_t k = 0; k < count; ++k) {
                           const bool above = static_cast<double>(x[k]) > threshold;
                           out[k] = std::isfinite(x[k]) ? static_cast<T>(above)
                                                        : std::numeric_limits<T>::quiet_NaN();
                         }
                       });
}

std::shared_ptr<const RowPrologue> unit_norm_prologue() {
  return make_prologue({.rewrites = true, .keeps_zeros = true},
                       []<class T>(const T* x, int64_t count, T* out, T*) noexcept {
                         const Norm norm = norm_of(x, count);
                         for (int64_t k = 0; k < count; ++k)
                           out[k] =
                               static_cast<T>(static_cast<double>(x[k]) / norm.largest / norm.root);
                       });
}

}  // namespace mercer::transform
