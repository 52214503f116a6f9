// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inner products of all columns of one matrix with the few columns of another, added up over rows:
// what row_products is the transpose of. Unlike BLAS, a number depends on its two columns alone.
#pragma once

#include "base/matrix_view.h"

namespace mercer::transform {

/// sums(o, j) += sum_i Y(i, o) Z(i, j), i ascending: in T over every kColumnProductRows rows from
/// the first on, these sums in double. The order is the same on every target, whatever the other
/// columns are. Any alignment. Z.rows == Y.rows, sums Y.cols x Z.cols, no overlap. NaN stays in its
/// column of Z or row of sums.
void add_column_products(MatrixView<const float> Z, MatrixView<const float> Y,
                         MatrixView<double> sums) noexcept;
void add_column_products(MatrixView<const double> Z, MatrixView<const double> Y,
                         MatrixView<double> sums) noexcept;

/// Rows that are added up in T: few enough for a float, and for a strip of Z to stay in L1.
inline constexpr int64_t kColumnProductRows = 64;

}  // namespace mercer::transform
