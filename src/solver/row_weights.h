// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which rows of a data set are taken, and how much each counts.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/views.h"

namespace mercer::solver {

// A set of rows of a data set: all, a held-out part, a fold, a subsample.

/// `count` rows: index[0 .. count-1], ascending, or 0 .. count-1 if index is null. Non-owning.
struct RowSet {
  const int64_t* index = nullptr;
  int64_t count = 0;

  RowSet() = default;
  explicit RowSet(int64_t all) : count(all) {}
  RowSet(const std::vector<int64_t>& rows)  // NOLINT: implicit, a vector of rows is a set of rows
      : index(rows.data()), count(static_cast<int64_t>(rows.size())) {}
  int64_t operator[](int64_t i) const { return index == nullptr ? i : index[i]; }
};

/// A RowSet that owns its row numbers if it was chosen from a chosen set.
class ChosenRows : public RowSet {
 public:
  explicit ChosenRows(int64_t all) : RowSet(all) {}
  ChosenRows(ChosenRows&&) noexcept = default;
  ChosenRows& operator=(ChosenRows&&) noexcept = default;

  /// The rows (*this)[rows[i]]. Chosen from all rows, the result refers to the numbers of `rows`.
  ChosenRows choose(RowSet rows) const {
    ChosenRows chosen(0);
    for (int64_t i = 0; i < rows.count && index != nullptr; ++i)
      chosen.numbers_.push_back((*this)[rows[i]]);
    static_cast<RowSet&>(chosen) = index == nullptr ? rows : RowSet(chosen.numbers_);
    return chosen;
  }

 private:
  std::vector<int64_t> numbers_;
};

// Row weights: a row of weight 2 counts as two equal rows. n of the formulas is the sum of the
// weights (1 each by default). Generalised cross-validation takes n for a number of rows and is
// infinite at every lambda if it is below Tr H; model fits therefore make weights relative first.

/// Empty, or one finite number >= 0 for each row; else DIMENSION_MISMATCH or INVALID_ARGUMENT
/// naming the row.
void require_weights(std::span<const double> weights, int64_t rows);

/// The sum, in order; `rows` without weights.
double total_weight(std::span<const double> weights, int64_t rows);
inline double weight_at(std::span<const double> weights, int64_t i) {
  return weights.empty() ? 1.0 : weights[i];
}

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
  /// The mean over rows of positive weight, 1 without weights.
  double mean() const noexcept { return sums_[1] > 0 ? sums_[0] / sums_[1] : 1; }

 private:
  std::array<double, 2> sums_{};  // of the weights, and how many are positive
};

/// The weights scaled by their own WeightUnit; empty without weights.
std::vector<double> relative_weights(std::span<const double> weights);

/// Their unit.
inline double weight_unit(std::span<const double> weights) {
  WeightUnit unit;
  unit.add(weights);
  return unit.mean();
}

/// The numbers of a set of rows: weights, classes, groups; empty where there are none.
std::vector<double> numbers_of(std::span<const double> all, RowSet rows);

/// Multiplies rows by the roots of their weights, if there are any.
void scale_by_roots(std::span<const double> weights, MatrixView<double> Z);

}  // namespace mercer::solver
