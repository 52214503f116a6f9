// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Brings a column drawn at lengthscale 1 to the lengthscale asked for: coordinate k over
// lengthscale k.
#pragma once

#include <span>

namespace mercer::projection {

/// lengthscale: empty (nothing to do), one number, or as many as omega has.
inline void divide_by_lengthscale(std::span<const double> lengthscale,
                                  std::span<double> omega) noexcept {
  if (lengthscale.empty()) return;
  for (size_t k = 0; k < omega.size(); ++k)
    omega[k] /= lengthscale[lengthscale.size() == 1 ? 0 : k];
}

}  // namespace mercer::projection
