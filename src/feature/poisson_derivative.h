// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Derivatives of one panel of Poisson features, z_j = scale prod_k h(x_k, w_jk) with h(x, w) =
// exp(m (1 - x^2)/2) x^w, m_k = 1/l_k^2 and integers w >= 0.
#pragma once

#include <cstdint>
#include <span>

#include "feature/derivative.h"
#include "feature/panel_row.h"

namespace mercer::feature {

template <class T>
struct PoissonPanel : PanelRow<T> {
  std::span<const double> means;  // m: one, or one for each input
  double scale;

  double mean(int64_t k) const noexcept {
    return means[means.size() == 1 ? 0 : static_cast<size_t>(k)];
  }
};

/// out[j] = d^p z_j, for every column of the panel; in double. O(d) a column.
template <class T>
void poisson_partial(const PoissonPanel<T>& panel, const MultiIndex& p, T* out) noexcept;
/// out[k columns + j] = dz_j/dx_k for every input, all in O(d) a column.
template <class T>
void poisson_gradient(const PoissonPanel<T>& panel, T* out) noexcept;

}  // namespace mercer::feature
