// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Moves row statistics to another origin. With m the mean about the old origin and r about the new,
// Z'Z becomes Z'Z - n m m' + n r r'; likewise Z'Y and y^2. Private to solver.
#pragma once

#include <vector>

#include "solver/row_statistics.h"

namespace mercer::solver {

inline void add_scaled(double sign, std::span<const double> from, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += sign * from[i];
}

/// A row of features and of outputs.
struct MeanRow {
  std::vector<double> features, outputs;
};

/// The mean row minus the origin: sums / n; zeros without rows.
MeanRow mean_about_origin(const RowStatistics& statistics);
/// The mean row.
MeanRow mean_of(const RowStatistics& statistics);

/// Makes `origin` the origin of the sums.
void move_origin(RowStatistics& statistics, const MeanRow& origin);

/// to += sign * other, whose sums are taken about the origin of `to`.
void add_about_origin(double sign, const RowStatistics& other, const RowStatistics::Parts& to);

/// The mean is so many deviations from the origin that subtracting it would cancel digits.
bool origin_is_far(const RowStatistics& statistics);

}  // namespace mercer::solver
