// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Rows to learn from, in memory.
#pragma once

#include <span>

#include "base/rows.h"

namespace mercer::model {

/// Y may have no columns (prediction), weights may be empty: 1 each.
struct TargetedRows {
  Rows X;
  MatrixView<const double> Y;
  std::span<const double> weights = {};
};

}  // namespace mercer::model
