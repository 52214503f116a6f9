// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows times one packed panel of W (transform/dense_panel.h): the cost follows the
// non-zeros.
#pragma once

#include "base/csr_view.h"
#include "transform/dense_panel.h"

namespace mercer::transform {

/// Rows that pass over a panel before the next: what they touch of it is read from cache more often
/// than from memory.
inline constexpr int64_t kSparseTileRows = 768;

/// P(i, j) = sum over row i of x_ik W(k, j), in an order that is a function of the row's listing
/// alone. The bits of P(i, j) depend on the row as listed, column j and the target; they need not
/// equal project_panel's. Both are within (m + 1) eps sum_k |x_ik W(k, j)| of the exact sum, m the
/// terms added and eps the unit roundoff, so they differ by at most (m + d + 2) eps times that sum.
/// A row without entries gives zeros. panel and P as for project_panel.
void project_panel(const CsrView<float>& X, const float* panel, float* P) noexcept;
void project_panel(const CsrView<double>& X, const double* panel, double* P) noexcept;

}  // namespace mercer::transform
