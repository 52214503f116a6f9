// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The dense half of the fused projection: a tile of rows times one packed panel of W. Panels are
// 128 bytes wide on every target, so that a packed W does not depend on the target that reads it.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace mercer::transform {

/// Columns of a panel: 32 floats, 16 doubles. Panel c holds columns [c*w, (c+1)*w) of W, row k of
/// the panel at offset k*w; columns past the last are zero.
template <class T>
inline constexpr int64_t kPanelColumns = 128 / static_cast<int64_t>(sizeof(T));

/// Rows projected together before the epilogue runs: their X stays in L2, their P in L1.
inline constexpr int64_t kTileRows = 96;

/// P(i, j) = sum_k X(i, k) W(k, j), k ascending with one fused multiply-add each where the target
/// has them: the bits of P(i, j) depend on row i, column j and the target alone. `panel` is X.cols
/// x w and 64-byte aligned; P is X.rows x w, contiguous, 64-byte aligned.
void project_panel(MatrixView<const float> X, const float* panel, float* P) noexcept;
void project_panel(MatrixView<const double> X, const double* panel, double* P) noexcept;

}  // namespace mercer::transform
