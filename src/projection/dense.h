// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Dense projection: every column of W is given by itself, and W is packed group by group when first used.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "projection/projection.h"

namespace mercer::projection {

/// Where columns of W come from: i.i.d. draws of a spectral law, or the caller's numbers.
class FrequencySource {
 public:
  virtual ~FrequencySource() = default;
  /// omega_j in radians per unit of input, omega.size() = d. Called by several threads at once.
  virtual void fill(int64_t j, std::span<double> omega) const noexcept = 0;
};

/// P = XW/(2 pi) with F columns from `source`; d*F multiply-adds per row. Memory: d*F numbers per precision in use.
std::unique_ptr<Projection> make_dense(int64_t d, int64_t F, std::unique_ptr<const FrequencySource> source);

}  // namespace mercer::projection
