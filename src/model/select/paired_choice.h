// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The one-standard-error rule with paired differences: the simplest candidate whose loss is within
// one standard error of the least. The plain rule (Breiman et al. 1984) takes the error of the
// least loss, most of which all candidates share; the error of a paired difference is far smaller.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned.h"
#include "solver/block_source.h"

namespace mercer::model {

/// Means and errors of differences of candidates' losses on the same rows. Rows may have weights
/// w >= 0 and be spread over processes.
class PairedLosses {
 public:
  explicit PairedLosses(int64_t candidates);
  int64_t candidates() const noexcept { return static_cast<int64_t>(sums_.size()); }
  /// Adds one row's losses, one per candidate. A row of weight 0 may hold anything.
  void add(const double* losses, double weight = 1);
  /// Sums over the processes that share the source's rows.
  void reduce(const solver::BlockSource& rows);

  double weight() const noexcept { return counts_[1]; }
  /// sum w l / sum w; not finite if a row's loss is not.
  double mean(int64_t k) const;
  /// Standard error of mean(a) - mean(b) for independent rows: the square root of
  /// sum w^2 (d - mean d)^2 / (sum w)^2 times n / (n - 1). Infinite for one row.
  double error_of_difference(int64_t a, int64_t b) const;

 private:
  double counts_[3] = {0, 0, 0};       // rows of w > 0, sum w, sum w^2
  std::vector<double> sums_;           // sum w l
  std::vector<double> weighted_sums_;  // sum w^2 l
  Matrix<double> products_;            // sum w^2 l l', lower triangle
};

/// The first candidate of least mean loss; ignores losses that are not finite unless all are.
int64_t least_loss(const PairedLosses& losses);

/// The candidate of least effective dimension, the first of equals, among those whose mean loss
/// exceeds the least by at most the standard error of that difference and is at most twice the
/// least (if that is positive). dimensions: Tr H of each.
int64_t paired_choice(const PairedLosses& losses, std::span<const double> dimensions);

}  // namespace mercer::model
