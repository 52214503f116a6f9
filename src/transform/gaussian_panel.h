// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Gaussian kernel values of a tile of rows and the columns of a packed panel
// (transform/dense_panel.h). Squared distances are summed from differences: the expanded form loses
// digits far from the origin.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace mercer::transform {

/// K(i, j) = scale exp(-sum_k (X(i, k) - L(k, j))^2 / 2), k ascending: the bits depend on row i,
/// column j and the target alone; NaN stays in its row. `panel` is as for project_panel; K is
/// X.rows x kPanelColumns<T>, its ld a multiple of that, 64-byte aligned.
void gaussian_panel(MatrixView<const float> X, const float* panel, float scale,
                    MatrixView<float> K) noexcept;
void gaussian_panel(MatrixView<const double> X, const double* panel, double scale,
                    MatrixView<double> K) noexcept;

}  // namespace mercer::transform
