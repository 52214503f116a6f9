// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The numbers of a table as the library reads them: nothing is copied.
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/mercer.hpp"
#include "read/numbers.h"

namespace mercer::cli {

/// Rows [first, first + count) of d columns, dense or sparse.
inline Rows rows_of(const Numbers& values, int64_t first, int64_t count, int64_t d) {
  const auto view = [&](const auto* numbers) -> Rows {
    using T = std::remove_cv_t<std::remove_pointer_t<decltype(numbers)>>;
    if (!values.sparse) return MatrixView<const T>(numbers + first * d, count, d);
    return CsrView<T, int64_t>{count,
                               d,
                               static_cast<int64_t>(values.stored()),
                               values.offsets.data() + first,
                               values.indices.data(),
                               numbers};
  };
  return values.single ? view(values.f32.data()) : view(values.f64.data());
}

/// The same of n x m targets without gaps.
inline Rows targets_of(const GrowingBuffer<double>& Y, int64_t first, int64_t count, int64_t m) {
  return MatrixView<const double>(Y.data() + first * m, count, m);
}

/// The default score of rows from `first` on, which count by their weights.
inline mercer_score_options score_options_of(const std::vector<double>& weights, int64_t first) {
  mercer_score_options options = score_options();
  if (!weights.empty()) options.weights = weights.data() + first;
  return options;
}

}  // namespace mercer::cli
