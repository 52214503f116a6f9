// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows to double and back.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// to[j] = from[j] - origin[j] in double; without an origin from[j].
template <class T>
struct WideRow {
  const T* from;
  int64_t count;
  const double* origin;  // null: 0
  double* to;
};
void widen_row(const WideRow<float>& row) noexcept;
void widen_row(const WideRow<double>& row) noexcept;

/// to[j] = factor from[j], rounded.
void round_row(const double* from, int64_t count, double factor, float* to) noexcept;

}  // namespace mercer::transform
