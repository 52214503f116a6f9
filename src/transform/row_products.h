// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Inner products of all rows of one matrix with all rows of another: few columns of a result, long
// rows. Unlike BLAS, a number depends on its two rows alone.
#pragma once

#include "base/matrix_view.h"

namespace mercer::transform {

/// out(i, o) = sum_j Z(i, j) W(o, j), in an order of its own for each target; nothing else decides
/// the bits. Any alignment. Z.cols == W.cols, out Z.rows x W.rows, no overlap. NaN stays in its
/// row.
void row_products(MatrixView<const float> Z, MatrixView<const float> W,
                  MatrixView<float> out) noexcept;
void row_products(MatrixView<const double> Z, MatrixView<const double> W,
                  MatrixView<double> out) noexcept;

}  // namespace mercer::transform
