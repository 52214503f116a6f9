// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Z W for frequencies on a grid, without Z.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned.h"
#include "base/context.h"
#include "feature/frequency_grid.h"

namespace mercer::feature {

class GridProducts {
 public:
  /// Whether that costs less than features do, for so many columns of W.
  static bool pays(const FrequencyGrid& grid, int64_t columns);

  /// W: D x c, rows of all cosines, then of all sines; at_zero: k(0).
  GridProducts(const FrequencyGrid& grid, double at_zero, MatrixView<const double> W,
               Context& context);
  /// out (n x c) = Z W at the rows of X. A row of out depends on its row of X alone, bit for bit;
  /// NaN stays in its row.
  void multiply(MatrixView<const double> X, Context& context, MatrixView<double> out) const;

 private:
  void multiply_rows(MatrixView<const double> X, double* scratch,
                     MatrixView<double> out) const noexcept;
  std::vector<double> step_;
  std::vector<int64_t> counts_;  // cosines of each input, and as many sines
  int64_t left_ = 1;             // products of all inputs' but the last's
  Matrix<double> W_;             // (c left) x (2 counts of the last)
};

}  // namespace mercer::feature
