// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The adjoint of transform/dense_panel.h: a tile of cotangents of P times the transpose of a packed
// panel of W.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"
#include "transform/dense_panel.h"

namespace mercer::transform {

/// Rows of a panel transposed at a time: they stay in the L1 cache together with a tile's rows of
/// P.
inline constexpr int64_t kTurnedRows = 128;
/// Numbers of scratch that project_panel_transpose needs.
template <class T>
inline constexpr int64_t kPanelTransposeScratch = kTurnedRows* kPanelColumns<T>;

/// X(i, k) += sum_c P(i, c) W(k, c), summed from 0 with c ascending, by fused multiply-adds where
/// the target has them: the bits depend on row i, column k and the target alone. `panel` is X.cols
/// x w, P is X.rows x w, contiguous, as for project_panel; panel, P and scratch are 64-byte
/// aligned.
void project_panel_transpose(const float* P, const float* panel, MatrixView<float> X,
                             float* scratch) noexcept;
void project_panel_transpose(const double* P, const double* panel, MatrixView<double> X,
                             double* scratch) noexcept;

}  // namespace mercer::transform
