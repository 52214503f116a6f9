// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Source: Mroueh, Poggio, Rosasco, Slotine, "Multiclass learning with simplex coding", 2012, whose
// recursion has another u.
#include "model/outputs/outputs.h"

#include <cmath>

#include "base/error.h"

namespace mercer::model {

// From the code of p classes to that of p + 1: [[1, u'], [0, sqrt(1 - 1/p^2) B]], u = -1/p.
void simplex_code(MatrixView<double> code) {
  require(code.cols >= 2 && code.rows == code.cols - 1, MERCER_DIMENSION_MISMATCH,
          "a simplex code of %ld x %ld, expected (T - 1) x T with T >= 2", code.rows, code.cols);
  double scale = 1;
  for (int64_t row = 0; row < code.rows; ++row) {
    const auto p = static_cast<double>(code.cols - 1 - row);
    for (int64_t k = 0; k < code.cols; ++k)
      code(row, k) = k < row ? 0 : scale * (k == row ? 1 : -1 / p);
    scale *= std::sqrt(1 - 1 / (p * p));
  }
}

}  // namespace mercer::model
