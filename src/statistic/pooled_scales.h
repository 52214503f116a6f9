// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Scales of two samples taken together: bandwidths that do not depend on the sample that a row
// belongs to keep a permutation test exact.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/context.h"
#include "base/views.h"

namespace mercer::statistic {

struct Scales {
  std::vector<double> columns;  // standard deviations, 1 for a constant; all 1 if not wanted
  double euclidean = 1;  // the median distance of rows over these, of pairs that are not equal; 1
  double absolute = 1;   // if there is none; and that of the sums of magnitudes
  bool operator==(const Scales&) const = default;
};

/// The scales of at most 500 rows drawn from all samples together, which have the same columns.
Scales pooled_scales(std::span<const Rows> samples, bool by_column, uint64_t seed,
                     Context& context);

}  // namespace mercer::statistic
