// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Statistics of several processes: their sums agree on an origin, then add up.
#include "solver/reduction.h"

#include <vector>

#include "solver/origin.h"
#include "solver/plain_sums.h"

namespace mercer::solver {
namespace {

/// The mean of all processes' rows, by sums about zero: an origin need only lie among the rows.
MeanRow common_mean(const RowStatistics& statistics, Reduction& reduction) {
  std::vector<double> sums = plain_sum_features(statistics);
  const std::vector<double> outputs = plain_sum_outputs(statistics);
  sums.insert(sums.end(), outputs.begin(), outputs.end());
  sums.push_back(statistics.weight());
  reduction.sum(sums);
  const double n = sums.back();
  if (n > 0)
    for (double& sum : sums) sum /= n;
  const auto split = sums.begin() + statistics.features();
  return {{sums.begin(), split}, {split, sums.end() - 1}};
}

}  // namespace

void all_reduce(RowStatistics& statistics, Reduction& reduction) {
  move_origin(statistics, common_mean(statistics, reduction));
  const RowStatistics::Parts parts = statistics.parts();
  for (int64_t i = 0; i < parts.gram.rows; ++i) {
    reduction.sum({parts.gram.row(i), static_cast<std::size_t>(i + 1)});
    reduction.sum({parts.cross.row(i), static_cast<std::size_t>(parts.cross.cols)});
  }
  reduction.sum(parts.sum_features);
  reduction.sum(parts.sum_outputs);
  reduction.sum(parts.sum_squared_outputs);
  double counts[] = {static_cast<double>(parts.rows), parts.weight};  // exact up to 2^53 rows
  reduction.sum(counts);
  parts.rows = static_cast<int64_t>(counts[0]);
  parts.weight = counts[1];
}

}  // namespace mercer::solver
