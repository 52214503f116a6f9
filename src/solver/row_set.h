// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A set of rows of a data set: all, a held-out part, a fold, a subsample.
#pragma once

#include <cstdint>
#include <vector>

namespace mercer::solver {

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

}  // namespace mercer::solver
