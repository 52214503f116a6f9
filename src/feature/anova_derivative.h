// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of one panel of ANOVA features, z_j = scale e_m(w_j1 x_1, ..., w_jd x_d), e_m the
// elementary symmetric polynomial, or z_j = scale prod_k (1 + w_jk x_k).
#pragma once

#include <cstdint>

#include "feature/derivative.h"
#include "feature/panel_row.h"

namespace mercer::feature {

template <class T>
struct AnovaPanel : PanelRow<T> {
  int64_t degree;  // m; 0: the product
  T scale;
};

/// Scratch of the functions below, in numbers for each column.
int64_t anova_scratch(int64_t inputs, int64_t degree);

/// out[j] = d^p z_j, for every column of the panel: 0 where an order is above 1. O(d m) a column.
template <class T>
void anova_partial(const AnovaPanel<T>& panel, const MultiIndex& p, T* out, T* scratch) noexcept;
/// out[k columns + j] = dz_j/dx_k for every input, from products over the inputs before k and those
/// after it; O(d m) a column in all.
template <class T>
void anova_gradient(const AnovaPanel<T>& panel, T* out, T* scratch) noexcept;

}  // namespace mercer::feature
