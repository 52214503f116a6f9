// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The median heuristic on a subsample of standardised rows.
#include "model/central_lengthscale.h"

#include <algorithm>
#include <cmath>

#include "kernel/lengthscale.h"
#include "model/row_coding.h"
#include "model/row_sets.h"

namespace mercer::model {
namespace {

constexpr int64_t kMedianRows = 1000;

/// At least half of all pairs are equal rows, so that their median distance is 0.
bool mostly_equal(MatrixView<const double> rows) {
  std::vector<const double*> sorted(static_cast<size_t>(rows.rows));
  for (int64_t i = 0; i < rows.rows; ++i) sorted[static_cast<size_t>(i)] = rows.row(i);
  const auto less = [&](const double* a, const double* b) {
    return std::lexicographical_compare(a, a + rows.cols, b, b + rows.cols);
  };
  std::sort(sorted.begin(), sorted.end(), less);
  int64_t equal_pairs = 0, run = 0;
  for (size_t i = 1; i < sorted.size(); ++i) {
    run = less(sorted[i - 1], sorted[i]) ? 0 : run + 1;
    equal_pairs += run;
  }
  return 4 * equal_pairs >= rows.rows * (rows.rows - 1);
}

}  // namespace

template <class T>
double central_lengthscale(const Standardizer& standardizer, MatrixView<const T> X,
                           const std::vector<int64_t>& rows, uint64_t seed, Context& context) {
  const auto sample = sample_rows(rows, kMedianRows, seed);
  const Matrix<double> inputs(static_cast<int64_t>(sample.size()), X.cols);
  for (int64_t i = 0; i < inputs.rows(); ++i) {
    standardize_row(standardizer, X.cols, X.row(sample[static_cast<size_t>(i)]),
                    inputs.view().row(i));
  }
  if (inputs.rows() < 2 || mostly_equal(inputs.view())) {
    return std::sqrt(2.0 * static_cast<double>(X.cols));
  }
  return kernel::median_heuristic(inputs.view(), kMedianRows * kMedianRows, seed, context);
}

template double central_lengthscale(const Standardizer&, MatrixView<const float>,
                                    const std::vector<int64_t>&, uint64_t, Context&);
template double central_lengthscale(const Standardizer&, MatrixView<const double>,
                                    const std::vector<int64_t>&, uint64_t, Context&);

}  // namespace mercer::model
