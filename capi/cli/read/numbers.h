// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The numbers of a table: dense, or CSR for libsvm, so that a file costs what it lists.
#pragma once

#include <cstdint>
#include <vector>

namespace mercer::cli {

struct Numbers {
  std::vector<double> values;  // dense: rows x columns; sparse: the numbers listed
  bool sparse = false;
  std::vector<int64_t> offsets;  // sparse: rows + 1, row i lists [offsets[i], offsets[i + 1])
  std::vector<int64_t> indices;  // sparse: columns, ascending and distinct within a row

  double at(int64_t place) const { return values[static_cast<size_t>(place)]; }
};

/// Sparse numbers that list more than a quarter of rows x columns become dense: at most four times
/// as many numbers, and the library is faster on them from about there on. (The library centres
/// dense inputs and divides by their deviations; sparse ones it divides by the size of the numbers
/// that they list, which for a full column is the same.)
void densify_if_full(Numbers* numbers, int64_t rows, int64_t columns);

/// Rows order[0], order[1], ... of rows of so many columns.
Numbers rows_in_order(const Numbers& numbers, int64_t columns, const std::vector<int64_t>& order);

}  // namespace mercer::cli
