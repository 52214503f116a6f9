// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "transform/row_prologue.h"

#include <cmath>
#include <limits>

#include "transform/inverse_norm.h"

namespace mercer::transform {

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

std::shared_ptr<const RowPrologue> unit_norm_prologue() {
  return make_prologue({.rewrites = true, .keeps_zeros = true, .needs_entries = true},
                       []<class T>(const T* x, int64_t count, T* out, T*) noexcept {
                         const double inverse = inverse_norm(count, x);
                         for (int64_t k = 0; k < count; ++k)
                           out[k] = static_cast<T>(static_cast<double>(x[k]) * inverse);
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

}  // namespace mercer::transform
