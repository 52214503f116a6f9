// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The statistics' sums about zero, as formulas have them: Z'Z, Z'Y, sums of z, y and y^2.
#pragma once

#include <vector>

#include "solver/row_statistics.h"

namespace mercer::solver {

void write_plain_gram(const RowStatistics& statistics, MatrixView<double> out);  // both triangles
void write_plain_cross(const RowStatistics& statistics, MatrixView<double> out);
std::vector<double> plain_sum_features(const RowStatistics& statistics);
std::vector<double> plain_sum_outputs(const RowStatistics& statistics);
std::vector<double> plain_sum_squared_outputs(const RowStatistics& statistics);

}  // namespace mercer::solver
