// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Sparse rows times one packed panel of W (transform/dense_panel.h), at a cost per stored non-zero.
#pragma once

#include "base/csr_view.h"
#include "transform/dense_panel.h"

namespace mercer::transform {

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

}  // namespace mercer::transform
