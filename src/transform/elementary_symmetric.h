// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Elementary symmetric polynomials of the products of a row with the columns of a packed panel
// (transform/dense_panel.h): features of ANOVA kernels.
#pragma once

#include <cstdint>

#include "base/matrix_view.h"

namespace mercer::transform {

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

}  // namespace mercer::transform
