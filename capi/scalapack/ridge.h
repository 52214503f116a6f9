// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression from sums that processes share, at one penalty or the best of several.
#pragma once

#include <cstdint>
#include <vector>

#include "leave_one_out.h"
#include "mercer/scalapack.h"
#include "normal_sums.h"
#include "processes.h"

namespace mercer::scalapack {

struct RidgeOptions {
  bool centers, by_factors;
  int32_t criterion;  // mercer_scalapack_criterion
  std::vector<double> penalties;
  double* scores;  // penalties x targets, or null
  bool is_scored() const noexcept { return penalties.size() > 1 || scores != nullptr; }
  /// Matrices of the size of Z'Z beside it, for factors.
  bool keeps_sums() const noexcept { return penalties.size() > 1; }
};

/// In the order of places; weights row-major, a column for each target.
struct Solution {
  double penalty, dimension;  // of the chosen one; NaN: not known
  std::vector<double> weights;
  std::vector<double> means;  // of features less NormalSums::origin; zeros without centring
};

/// Overwrites the sums. left_out: null, or what the criterion LEAVE_ONE_OUT needs. Errors: those of
/// mercer_scalapack_ridge, Agreed in all processes.
Solution solve_ridge(Processes& all, const RidgeOptions& options, NormalSums& sums,
                     LeaveOneOut* left_out, Progress& progress);
/// What it takes, in rows added to Z'Z (D^2 products).
double ridge_work(const RidgeOptions& options, int64_t features) noexcept;

}  // namespace mercer::scalapack
