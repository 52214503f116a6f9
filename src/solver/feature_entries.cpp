// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#include "solver/feature_entries.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/size.h"

namespace mercer::solver {
namespace {

constexpr int64_t kRowsOfChunk = 256;

void add(double value, const double* x, int64_t count, double* y) noexcept {
  for (int64_t k = 0; k < count; ++k) y[k] += value * x[k];
}

}  // namespace

void FeatureEntries::multiply(MatrixView<const double> X, Context& context,
                              MatrixView<double> U) const {
  parallel_for(context, ceil_divide(U.rows, kRowsOfChunk), [&](int64_t chunk, int) noexcept {
    const int64_t first = chunk * kRowsOfChunk, end = std::min(U.rows, first + kRowsOfChunk);
    for (int64_t i = first; i < end; ++i) std::fill_n(U.row(i), U.cols, 0.0);
    for (int64_t e = 0; e < columns.rows(); ++e) {
      const int32_t* const at = columns.view().row(e);
      const double* const value = values.view().row(e);
      for (int64_t i = first; i < end; ++i) add(value[i], X.row(at[i]), U.cols, U.row(i));
    }
  });
}

// Entries of one number have columns of their own, so that chunks of entries never meet.
void FeatureEntries::multiply_transposed(MatrixView<const double> U, Context& context,
                                         MatrixView<double> Y) const {
  for (int64_t j = 0; j < Y.rows; ++j) std::fill_n(Y.row(j), Y.cols, 0.0);
  parallel_for(context, columns.rows(), [&](int64_t e, int) noexcept {
    const int32_t* const at = columns.view().row(e);
    const double* const value = values.view().row(e);
    for (int64_t i = 0; i < U.rows; ++i) add(value[i], U.row(i), U.cols, Y.row(at[i]));
  });
}

}  // namespace mercer::solver
