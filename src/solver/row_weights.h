// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Row weights: a row of weight 2 counts as two equal rows. n of the formulas is the sum of the
// weights (1 each by default). Generalised cross-validation takes n for a number of rows and is
// infinite at every lambda if it is below Tr H; model fits therefore make weights relative first.
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

/// Scales weights to mean 1 over rows of positive weight: only their ratios count, sums and squares
/// do not overflow, and n is a number of rows. A power of two as a common factor changes no bits.
class WeightUnit {
 public:
  void add(std::span<const double> weights);
  /// To be summed over the processes that share the rows.
  std::span<double> sums() noexcept { return sums_; }
  /// The scaled weights; positive ones stay positive. Unchanged if their sum is 0 or infinite,
  /// which fits refuse.
  std::vector<double> relative(std::span<const double> weights) const;

 private:
  std::array<double, 2> sums_{};  // of the weights, and how many are positive
};

/// The weights scaled by their own WeightUnit; empty without weights.
std::vector<double> relative_weights(std::span<const double> weights);

/// The weights of a set of rows; empty without weights.
std::vector<double> taken_weights(std::span<const double> weights, RowSet rows);

}  // namespace mercer::solver
