// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The numbers of a table as the library reads them: nothing is copied.
#pragma once

#include <cstdint>
#include <vector>

#include "dataset.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {

/// Rows [first, first + count) of d columns, dense or sparse.
inline Rows rows_of(const Numbers& numbers, int64_t first, int64_t count, int64_t d) {
  const double* values = numbers.values.data();
  if (!numbers.sparse) return MatrixView<const double>(values + first * d, count, d);
  return CsrView<double, int64_t>{
      count, d, std::ssize(numbers.values), numbers.offsets.data() + first, numbers.indices.data(),
      values};
}

/// The same of the inputs and targets of a data set.
inline Rows inputs_of(const Dataset& data, int64_t first, int64_t count) {
  return rows_of(data.X, first, count, data.d);
}
inline Rows targets_of(const Dataset& data, int64_t first, int64_t count) {
  return MatrixView<const double>(data.Y.data() + first * data.m, count, data.m);
}

/// The default score of rows from `first` on, which count by their weights.
inline mercer_score_options score_options_of(const std::vector<double>& weights, int64_t first) {
  mercer_score_options options = score_options();
  if (!weights.empty()) options.weights = weights.data() + first;
  return options;
}

}  // namespace mercer::cli
