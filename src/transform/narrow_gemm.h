// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of a tall matrix Z with a few outputs, by rows or by columns (the transpose). Unlike
// with BLAS, a result depends on its two rows or columns alone. Any alignment, no overlap.
#pragma once

#include <cstdint>

#include "base/views.h"

namespace mercer::transform {

template <class T, class Sum>
struct NarrowProducts {
  MatrixView<const T> Z;
  MatrixView<const T> W;  // one row, or one column, for each output
  MatrixView<Sum> out;
};

/// Z.cols == W.cols, out Z.rows x W.rows.
template <class T>
using RowProducts = NarrowProducts<T, T>;
/// Z.rows == W.rows, out W.cols x Z.cols.
template <class T>
using ColumnProducts = NarrowProducts<T, double>;

/// out(i, o) = sum_j Z(i, j) W(o, j), in an order that depends on the target only. NaN stays in its
/// row.
void row_products(const RowProducts<float>& call) noexcept;
void row_products(const RowProducts<double>& call) noexcept;

/// out(o, j) += sum_i W(i, o) Z(i, j), i ascending: in T over blocks of kColumnProductRows rows
/// from the first on, these sums in double. The order is the same on every target and independent
/// of the other columns. NaN stays in its column of Z or row of out.
void add_column_products(const ColumnProducts<float>& call) noexcept;
void add_column_products(const ColumnProducts<double>& call) noexcept;

/// Rows summed in T: few enough for a float's precision, and for a strip of Z to stay in L1.
inline constexpr int64_t kColumnProductRows = 64;

// Rows to double and back.

/// to[j] = from[j] - origin[j] in double; without an origin from[j].
template <class T>
struct WideRow {
  const T* from;
  int64_t count;
  const double* origin;  // null: 0
  double* to;
};
void widen_row(const WideRow<float>& row) noexcept;
void widen_row(const WideRow<double>& row) noexcept;

/// to[j] = factor from[j], rounded.
void round_row(const double* from, int64_t count, double factor, float* to) noexcept;

}  // namespace mercer::transform
