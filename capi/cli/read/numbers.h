// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The numbers of a table: dense, or CSR for libsvm, so that a file costs what it lists.
#pragma once

#include <cstdint>
#include <vector>

#include "read/growing_buffer.h"

namespace mercer::cli {

/// In the precision of the source: float for IDX, f4 arrays and libsvm values that all are floats,
/// else double. Held once.
struct Numbers {
  bool single = false;
  GrowingBuffer<float> f32;  // dense: rows x columns; sparse: the numbers listed
  GrowingBuffer<double> f64;
  bool sparse = false;
  GrowingBuffer<int64_t> offsets;  // sparse: rows + 1, row i lists [offsets[i], offsets[i + 1])
  GrowingBuffer<int64_t> indices;  // sparse: columns, ascending and distinct within a row

  size_t stored() const { return single ? f32.size() : f64.size(); }
  /// Gives back what growth left over.
  void trim();
  /// The number stored at this place.
  double at(int64_t place) const {
    const auto k = static_cast<size_t>(place);
    return single ? static_cast<double>(f32[k]) : f64[k];
  }
};

/// Sparse numbers that list more than a quarter of rows x columns become dense: at most four times
/// as many numbers, and the library is faster on them from about there on. (The library centres
/// dense inputs and divides by their deviations; sparse ones it divides by the size of the numbers
/// that they list, which for a full column is the same.)
void densify_if_full(Numbers* values, int64_t rows, int64_t columns);

/// Rows order[0], order[1], ... of sparse numbers.
Numbers sparse_rows(const Numbers& values, const std::vector<int64_t>& order);

}  // namespace mercer::cli
