// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Training rows in memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "base/views.h"
#include "solver/row_set.h"

namespace mercer::model {

/// Y may have no columns (prediction), and NaN for missing targets. weights may be empty: 1 each.
struct TargetedRows {
  Rows X;
  MatrixView<const double> Y;
  std::span<const double> weights = {};
  std::span<const double> groups = {};  // a number for each row, or none: splits keep them together
};

/// Whether no target of these rows is NaN.
inline bool is_complete(MatrixView<const double> Y, solver::RowSet rows) {
  for (int64_t i = 0; i < rows.count; ++i) {
    const double* const y = Y.row(rows[i]);
    if (std::any_of(y, y + Y.cols, [](double x) { return std::isnan(x); })) return false;
  }
  return true;
}

}  // namespace mercer::model
