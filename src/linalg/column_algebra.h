// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Column-by-column operations of iterations on blocks of vectors. Private to linalg.
#pragma once

#include <algorithm>
#include <span>

#include "base/matrix_view.h"

namespace mercer::linalg {

/// out[j] = x_j'y_j.
inline void column_dots(MatrixView<const double> X, MatrixView<const double> Y,
                        std::span<double> out) {
  std::ranges::fill(out, 0.0);
  for (int64_t i = 0; i < X.rows; ++i) {
    const double *x = X.row(i), *y = Y.row(i);
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += x[j] * y[j];
  }
}

/// y_j = factor[j] y_j + x_j.
inline void scale_and_add_columns(std::span<const double> factor, MatrixView<const double> X,
                                  MatrixView<double> Y) {
  for (int64_t i = 0; i < X.rows; ++i) {
    const double* x = X.row(i);
    double* y = Y.row(i);
    for (std::size_t j = 0; j < factor.size(); ++j) y[j] = factor[j] * y[j] + x[j];
  }
}

/// y_j += factor[j] x_j.
inline void add_columns(std::span<const double> factor, MatrixView<const double> X,
                        MatrixView<double> Y) {
  for (int64_t i = 0; i < X.rows; ++i) {
    const double* x = X.row(i);
    double* y = Y.row(i);
    for (std::size_t j = 0; j < factor.size(); ++j) y[j] += factor[j] * x[j];
  }
}

inline void copy_rows(MatrixView<const double> X, MatrixView<double> Y) {
  for (int64_t i = 0; i < X.rows; ++i) std::copy_n(X.row(i), X.cols, Y.row(i));
}

}  // namespace mercer::linalg
