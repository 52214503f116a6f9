// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Ridge regression from sums that processes share, at one penalty or the best of several.
#pragma once

#include <cstdint>
#include <vector>

#include "iterations.h"
#include "leave_one_out.h"
#include "mercer/scalapack.h"
#include "normal_sums.h"
#include "processes.h"

namespace mercer::scalapack {

struct RidgeOptions {
  bool centers;
  int32_t criterion;  // mercer_scalapack_criterion
  int32_t method;     // mercer_scalapack_method, not AUTO
  std::vector<double> penalties;
  double* scores;      // penalties x targets, or null
  Limits limits;       // of passes
  int64_t probes;      // of criteria that need them, else 0
  int64_t block_rows;  // of all processes
  bool is_scored() const noexcept { return penalties.size() > 1 || scores != nullptr; }
  bool by_passes() const noexcept {
    return method == MERCER_SCALAPACK_CG || method == MERCER_SCALAPACK_MIXED;
  }
  Gram gram() const noexcept {
    return method == MERCER_SCALAPACK_CG      ? Gram::none
           : method == MERCER_SCALAPACK_MIXED ? Gram::in_single
                                              : Gram::in_double;
  }
  /// Whether there is a matrix of the size of Z'Z beside it, for factors.
  bool keeps_sums() const noexcept { return penalties.size() > 1; }
};

/// In the order of places; weights row-major, a column for each target.
struct Solution {
  double penalty, dimension;  // of the chosen one; NaN: not known
  std::vector<double> weights;
  int64_t iterations = 0;
};

/// Overwrites the sums, which `rows` are of; their origin becomes the means of features if they are
/// centred. Errors: those of mercer_scalapack_ridge, Agreed in all
/// processes.
Solution solve_ridge(const RidgeOptions& options, NormalSums& sums, CenteredRows& rows);
/// What it takes, in rows added to Z'Z (D^2 products).
double ridge_work(const RidgeOptions& options, int64_t features) noexcept;

}  // namespace mercer::scalapack
