// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Non-owning row-major matrices. MatrixView<const T> reads, MatrixView<T> writes.
#pragma once

#include <cstdint>
#include <type_traits>

namespace mercer {

template <class T>
struct MatrixView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;  // elements from one row to the next, >= cols

  constexpr MatrixView() = default;
  constexpr MatrixView(T* data_in, int64_t rows_in, int64_t cols_in, int64_t ld_in)
      : data(data_in), rows(rows_in), cols(cols_in), ld(ld_in) {}
  constexpr MatrixView(T* data_in, int64_t rows_in, int64_t cols_in)
      : MatrixView(data_in, rows_in, cols_in, cols_in) {}

  constexpr operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
    return {data, rows, cols, ld};
  }

  constexpr T* row(int64_t i) const { return data + i * ld; }
  constexpr T& operator()(int64_t i, int64_t j) const { return data[i * ld + j]; }

  /// Rows [i0, i1) and columns [j0, j1) of this matrix.
  constexpr MatrixView block_rows(int64_t i0, int64_t i1) const {
    return {data + i0 * ld, i1 - i0, cols, ld};
  }
  constexpr MatrixView block_cols(int64_t j0, int64_t j1) const {
    return {data + j0, rows, j1 - j0, ld};
  }
};

/// True for no rows; false if there is a NaN.
template <class T>
bool column_is_constant(const MatrixView<T>& A, int64_t j) {
  for (int64_t i = 1; i < A.rows; ++i)
    if (A(i, j) != A(0, j)) return false;
  return true;
}

}  // namespace mercer
