// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Products of a tile of rows with one packed panel of W, and other functions of the two. Panels are
// 128 bytes wide on every target, so that a packed W does not depend on the target that reads it.
#pragma once

#include <cstdint>

#include "base/views.h"

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

// Sparse rows times one packed panel of W, at a cost per stored non-zero.

/// Rows that pass over one panel before the next panel: the parts of it they use are then mostly
/// read from cache.
inline constexpr int64_t kSparseTileRows = 768;

/// P(i, j) = sum over row i of x_ik W(k, j), in an order fixed by the stored order of the row's
/// entries. The bits of P(i, j) depend on these entries, column j and the target; they need not
/// equal project_panel's. Both are within (m + 1) eps sum_k |x_ik W(k, j)| of the exact sum, m the
/// number of terms and eps the unit roundoff, so they differ by at most (m + d + 2) eps times that
/// sum. A row without entries gives zeros. panel and P as for project_panel.
void project_panel(const CsrView<float>& X, const float* panel, float* P) noexcept;
void project_panel(const CsrView<double>& X, const double* panel, double* P) noexcept;

// The adjoint of the dense panel: a tile of cotangents of P times the transpose of a packed
// panel of W.

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

// Functions of a tile of rows and the columns of a packed panel, other than
// their inner products.

// Gaussian kernel values. Squared distances are summed from differences: the expanded form loses
// digits far from the origin.

/// K(i, j) = scale exp(-sum_k (X(i, k) - L(k, j))^2 / 2), k ascending: the bits depend on row i,
/// column j and the target alone; NaN stays in its row. `panel` is as for project_panel; K is
/// X.rows x kPanelColumns<T>, its ld a multiple of that, 64-byte aligned.
void gaussian_panel(MatrixView<const float> X, const float* panel, float scale,
                    MatrixView<float> K) noexcept;
void gaussian_panel(MatrixView<const double> X, const double* panel, double scale,
                    MatrixView<double> K) noexcept;

// Elementary symmetric polynomials of the products of a row with the columns of a packed panel:
// features of ANOVA kernels.

/// Largest degree.
inline constexpr int64_t kMostSymmetricDegree = 16;

/// P(i, j) = scale sum over S, |S| = degree, of prod_{k in S} X(i, k) W(k, j), by the recursion
/// e_t += e_{t-1} X(i, k) W(k, j), t descending, for k ascending. 1 <= degree <=
/// kMostSymmetricDegree; panel and P as for project_panel.
void symmetric_panel(MatrixView<const float> X, const float* panel, int64_t degree, float scale,
                     float* P) noexcept;
void symmetric_panel(MatrixView<const double> X, const double* panel, int64_t degree, double scale,
                     double* P) noexcept;

/// P(i, j) = scale prod_k (1 + X(i, k) W(k, j)).
void subsets_panel(MatrixView<const float> X, const float* panel, float scale, float* P) noexcept;
void subsets_panel(MatrixView<const double> X, const double* panel, double scale,
                   double* P) noexcept;

// Cosines and sines of multiples of log x times sqrt(x), element by element: features of
// homogeneous kernels. Every element's bits depend on its own operands and the target alone.

/// roots[k] = sqrt(x_k), logs[k] = turns log(x_k), k < n. Zero gives two zeros; a negative number
/// or NaN a NaN root, infinity an infinite root, both with some finite logarithm.
void roots_and_logs(const float* x, int64_t n, float turns, float* roots, float* logs) noexcept;
void roots_and_logs(const double* x, int64_t n, double turns, double* roots, double* logs) noexcept;

/// cosines[k] = scale roots[k] cos(2 pi order logs[k]), and the sines.
void log_harmonics(const float* roots, const float* logs, int64_t n, float order, float scale,
                   float* cosines, float* sines) noexcept;
void log_harmonics(const double* roots, const double* logs, int64_t n, double order, double scale,
                   double* cosines, double* sines) noexcept;

// Monomials by their logarithms.

/// P(i, j) = scale (-1)^N(i, j) exp(P(i, j) + offset[i step]) over a rows x columns block without
/// gaps, N whole numbers below 2^24; NaN gives NaN. columns is a multiple of kPanelColumns<T>, P
/// and N are 64-byte aligned.
void signed_exp(const float* N, int64_t rows, int64_t columns, const float* offset, int64_t step,
                float scale, float* P) noexcept;
void signed_exp(const double* N, int64_t rows, int64_t columns, const double* offset, int64_t step,
                double scale, double* P) noexcept;

}  // namespace mercer::transform
