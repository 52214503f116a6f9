// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include <algorithm>

#include "model/column_moments.h"
#include "model/model.h"

namespace mercer::model {

bool Standardizer::centres() const noexcept {
  return std::ranges::any_of(mean, [](double m) { return m != 0; });
}

Standardizer fit_standardizer(const Rows& rows, std::span<const double> weights) {
  ColumnMoments moments(rows.cols());
  moments.add(rows, weights);
  return moments.standardizer();
}

}  // namespace mercer::model
