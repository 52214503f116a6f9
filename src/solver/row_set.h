// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Which rows of a data set are meant: all, a held-out part, a fold, a subsample.
#pragma once

#include <cstdint>
#include <vector>

namespace mercer::solver {

/// `count` rows: those of `index`, ascending, or 0 .. count-1 if index is null. Non-owning.
struct RowSet {
  const int64_t* index = nullptr;
  int64_t count = 0;

  RowSet() = default;
  explicit RowSet(int64_t all) : count(all) {}
  RowSet(const std::vector<int64_t>& rows)  // NOLINT: implicit, a vector of rows is a set of rows
      : index(rows.data()), count(static_cast<int64_t>(rows.size())) {}
  int64_t operator[](int64_t i) const { return index == nullptr ? i : index[i]; }
};

/// The rows of `of` that `rows` numbers; nothing if those of `of` are numbered so already.
inline std::vector<int64_t> composed(RowSet of, RowSet rows) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < rows.count && of.index != nullptr; ++i) numbers.push_back(of[rows[i]]);
  return numbers;
}

}  // namespace mercer::solver
