// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sums over inputs of the differences of one row from many. The bits of a sum depend on its two rows
// and the target alone, not on which of them is x.
#pragma once

#include <cstdint>

namespace mercer::transform {

/// The many rows are the columns of Y: input k of row j is Y[k * step + j], j < n.
struct DifferenceCall {
  const double* x;
  const double* scale;  // of the d inputs
  int64_t d;
  const double* Y;
  int64_t step;
  int64_t n;
  double* sums;
};

/// sums[j] += sum_k ((x_k - y_jk) scale_k)^2.
void add_squared_differences(const DifferenceCall& call) noexcept;
/// sums[j] += sum_k |(x_k - y_jk) scale_k|.
void add_absolute_differences(const DifferenceCall& call) noexcept;

}  // namespace mercer::transform
