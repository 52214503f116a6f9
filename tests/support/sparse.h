// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Random sparse rows that own their arrays, with 32- or 64-bit indices, and the dense rows they
// stand for.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "base/views.h"

namespace mercer::test {

template <class T, class Index = int32_t>
struct SparseRows {
  int64_t cols = 0;
  std::vector<Index> offsets{0};
  std::vector<Index> indices;
  std::vector<T> values;

  int64_t rows() const { return static_cast<int64_t>(offsets.size()) - 1; }
  void end_row() { offsets.push_back(static_cast<Index>(indices.size())); }
  void add(int64_t column, double value) {
    indices.push_back(static_cast<Index>(column));
    values.push_back(static_cast<T>(value));
  }
  CsrView<T> view() const { return {rows(), cols, offsets.data(), indices.data(), values.data()}; }

  /// Columns named twice are summed.
  Matrix<T> dense() const {
    Matrix<T> X(rows(), cols);
    X.fill(T{0});
    for (int64_t i = 0; i < rows(); ++i) add_row(view(), i, X.view().row(i));
    return X;
  }
};

/// n rows of d columns with 0, 1, ... up to `most` entries each, columns in any order and some
/// named twice; values in (-1, 1), the same on every machine.
template <class T, class Index = int32_t>
SparseRows<T, Index> sparse_rows(int64_t n, int64_t d, int64_t most, uint64_t seed) {
  std::mt19937_64 words(seed);
  SparseRows<T, Index> X;
  X.cols = d;
  for (int64_t i = 0; i < n; ++i) {
    const auto entries = static_cast<int64_t>(words() % static_cast<uint64_t>(most + 1));
    for (int64_t e = 0; e < entries; ++e) {
      X.add(static_cast<int64_t>(words() % static_cast<uint64_t>(d)),
            static_cast<double>(words() >> 11) * 0x1p-52 - 1.0);
    }
    X.end_row();
  }
  return X;
}

}  // namespace mercer::test
