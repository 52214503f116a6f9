// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics about their mean, or about zero.
#include "solver/centering.h"

#include <cmath>

#include "base/error.h"

namespace mercer::solver {
namespace {

/// Each 2 x 2 block of products of re and im becomes [a -b; b a] of re + i im, which adds the
/// products of the rows (im, -re), whose targets are 0, the imaginary parts of those of Z.
void add_imaginary_parts(MatrixView<double> G) {
  for (int64_t i = 0; i < G.rows; i += 2)
    for (int64_t j = 0; j <= i; j += 2) {
      G(i, j) = G(i + 1, j + 1) = G(i, j) + G(i + 1, j + 1);
      G(i + 1, j) = i == j ? 0 : G(i + 1, j) - G(i, j + 1);
      G(i, j + 1) = -G(i + 1, j);
    }
}

}  // namespace

Means center_in_place(RowStatistics& statistics, bool center) {
  statistics.require_finite();
  Means means{MeanRow{std::vector<double>(statistics.sum_features().size(), 0.0),
                      std::vector<double>(statistics.sum_outputs().size(), 0.0)},
              0};
  if (center) {
    for (const double m : mean_about_origin(statistics).features) means.distance += m * m;
    means.row = mean_of(statistics);
  }
  move_origin(statistics, means.row);
  for (double& squares : statistics.parts().sum_squared_outputs)
    squares = squares < 0 ? 0.0 : squares;  // NaN stays
  if (statistics.is_complex()) add_imaginary_parts(statistics.parts().gram);
  return means;
}

std::vector<double> intercepts(const MeanRow& mean, MatrixView<const double> w) {
  std::vector<double> result = mean.outputs;
  for (int64_t i = 0; i < w.rows; ++i)
    for (int64_t j = 0; j < w.cols; ++j) result[j] -= mean.features[i] * w(i, j);
  return result;
}

double checked_shift(double lambda, double n) {
  require(std::isfinite(lambda) && lambda >= 0, MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected a finite number >= 0", lambda);
  const double shift = lambda * n;
  require(std::isfinite(shift), MERCER_INVALID_ARGUMENT,
          "lambda = %g, expected n lambda to be finite for n = %.17g rows", lambda, n);
  return shift;
}

void require_rows(int64_t rows, const char* what) {
  require(rows >= 1, MERCER_INVALID_ARGUMENT, "%s: %ld rows, expected at least 1", what, rows);
}

void require_rows(const RowStatistics& statistics, const char* what) {
  require_rows(statistics.rows(), what);
  require(statistics.weight() > 0, MERCER_INVALID_ARGUMENT,
          "%s: the weights of %ld rows sum to %g, expected a positive number", what,
          statistics.rows(), statistics.weight());
}

}  // namespace mercer::solver
