// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// A loss to test beside those of the table, as the road of all losses leads it to ridge.
#pragma once

#include <span>

#include "solver/loss.h"

namespace mercer::test {

/// u^2 / 2: ridge.
inline solver::LossValue squared(std::span<const double> s, std::span<const double> y,
                                 const solver::LossParameters&, std::span<double> slope) {
  solver::LossValue loss{0, 1};
  for (size_t k = 0; k < s.size(); ++k) {
    slope[k] = s[k] - y[k];
    loss.value += slope[k] * slope[k] / 2;
  }
  return loss;
}
inline constexpr solver::Loss kSquared{"squared", "", false, squared};

}  // namespace mercer::test
