// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How many columns each degree of a power series gets.
#pragma once

#include <cstdint>
#include <vector>

#include "moment/series_error.h"

namespace mercer::feature {

/// What columns are shared out by. `block`: columns of a block of dependent ones. `sketched`: [n -
/// 1] whether degree n has columns: a_n > 0, and it is not kept exactly.
struct DegreeCosts {
  moment::SeriesError error;
  int64_t block;
  std::vector<bool> sketched;
};

struct DegreeAllotment {
  std::vector<int64_t> columns;  // D_1, ..., D_p
  std::vector<double> variance;  // of each degree
  std::vector<double> bias;      // squared, of a series that ends at each degree
  double error() const noexcept;
};

/// The mean variance of degree n with D columns: V/D of independent ones, of blocks its convex
/// surrogate.
double degree_variance(const DegreeCosts& costs, int64_t n, int64_t D) noexcept;

/// `total` columns for the sketched ones of degrees 1 to p, at least one each, with the least sum
/// of variances; of equal gains the lowest degree's.
DegreeAllotment allot_degrees(const DegreeCosts& costs, int64_t p, int64_t total);

/// The p in [least, most] and the allotment of least error; of equal ones the lowest p. Errors:
/// INVALID_ARGUMENT where no p can have `total` columns.
DegreeAllotment best_allotment(const DegreeCosts& costs, int64_t least, int64_t most,
                               int64_t total);

}  // namespace mercer::feature
