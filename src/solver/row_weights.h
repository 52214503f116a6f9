// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Weights of rows: a row of weight 2 counts as two equal rows. n of the formulas is the sum of the
// weights, which for rows without weights is their number. Generalised cross-validation takes n for
// a number of rows: weights of a sum below Tr H leave it no degrees of freedom, and it is infinite
// at every lambda. Whatever fits a model therefore makes weights relative first.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "solver/row_set.h"

namespace mercer::solver {

/// Empty, or one finite number >= 0 for each row; else DIMENSION_MISMATCH or INVALID_ARGUMENT
/// naming the row.
void require_weights(std::span<const double> weights, int64_t rows);

/// The sum, in order; `rows` without weights.
double total_weight(std::span<const double> weights, int64_t rows);

/// What makes weights relative: of mean 1 over the rows that weigh anything, so that only their
/// ratios count, neither sums nor squares overflow, and n is a number of rows. Weights times a
/// power of two become the same bits.
class WeightUnit {
 public:
  /// The next weights.
  void add(std::span<const double> weights);
  /// Of all processes: `sums` are added up over them.
  std::span<double> sums() noexcept { return sums_; }
  /// Those weights, the positive ones all positive; as they are where their sum is 0 or infinite,
  /// which fits refuse.
  std::vector<double> relative(std::span<const double> weights) const;

 private:
  std::array<double, 2> sums_{};  // of the weights, and how many are positive
};

/// The weights in their own unit; none without weights.
std::vector<double> relative_weights(std::span<const double> weights);

/// Those of a set of rows; none without weights.
std::vector<double> taken_weights(std::span<const double> weights, RowSet rows);

}  // namespace mercer::solver
