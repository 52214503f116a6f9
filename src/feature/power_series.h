// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Power series in a few variables, cut off: how derivatives of products of many factors are made,
// one factor after the other, without a division.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "kernel/multi_index.h"

namespace mercer::feature {

/// Coefficients of t^q, q <= p, one variable for each input of p. The last is that of t^p, which
/// times `factorial` is the derivative of order p.
struct PowerSeries {
  static constexpr int64_t kMost = 1024;

  kernel::MultiIndex p;
  std::vector<int64_t> steps;  // in the list of coefficients, of each variable
  int64_t count = 1;
  double factorial = 1;

  /// UNSUPPORTED: more than kMost coefficients.
  explicit PowerSeries(const kernel::MultiIndex& order) : p(order) {
    for (const kernel::PartialFactor& one : p) {
      steps.push_back(count);
      count *= one.order + 1;
      require(count <= kMost, MERCER_UNSUPPORTED,
              "a derivative of order %lld of a product has more than %lld coefficients, expected "
              "lower orders or fewer inputs in one multi-index",
              static_cast<long long>(total_order(p)), static_cast<long long>(kMost));
      for (int64_t n = 2; n <= one.order; ++n) factorial *= static_cast<double>(n);
    }
  }
  /// Of variable v in coefficient c.
  int64_t exponent(size_t v, int64_t c) const noexcept { return c / steps[v] % (p[v].order + 1); }
};

}  // namespace mercer::feature
