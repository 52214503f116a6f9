// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The statistics' sums about zero: Z'Z, Z'Y, sums of z, y and y^2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solver/row_statistics.h"

namespace mercer::solver {

void write_plain_gram(const RowStatistics& statistics, MatrixView<double> out);  // both triangles
void write_plain_cross(const RowStatistics& statistics, MatrixView<double> out);
std::vector<double> plain_sum_features(const RowStatistics& statistics);
std::vector<double> plain_sum_outputs(const RowStatistics& statistics);
std::vector<double> plain_sum_squared_outputs(const RowStatistics& statistics);

/// INVALID_ARGUMENT if the sums are about zero and a sum of squares is negative.
void require_squares(const RowStatistics& statistics);

/// Sums about zero of `rows` rows, made anywhere. Only the lower triangle of gram is read.
struct PlainSums {
  int64_t rows;
  MatrixView<const double> gram, cross;
  std::span<const double> sum_features, sum_outputs, sum_squared_outputs;
};
/// Replaces the statistics by these sums. INVALID_ARGUMENT, and no change, for a number that is not
/// finite, a negative sum of squares, a violation of the Cauchy-Schwarz inequality, rows < 0, or
/// nonzero sums of no rows.
void set_plain_sums(RowStatistics& statistics, const PlainSums& sums);

}  // namespace mercer::solver
