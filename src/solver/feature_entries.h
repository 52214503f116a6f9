// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Features of rows that are 0 but for one in each block of as many columns, all of them in memory:
// a product with Z or Z' costs n entries instead of n D.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "base/views.h"

namespace mercer::solver {

struct FeatureEntries {
  Matrix<int32_t> columns;      // entries x rows: entry e of a row is in block e of columns
  Matrix<double> values;        // likewise
  std::vector<double> weights;  // of rows; none: 1 each

  /// U = Z X.
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> U) const;
  /// Y = Z'U; no order of sums depends on the number of threads.
  void multiply_transposed(MatrixView<const double> U, Context& context,
                           MatrixView<double> Y) const;
};

}  // namespace mercer::solver
