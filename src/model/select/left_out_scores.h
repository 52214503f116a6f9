// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Leave-one-out scores of some training rows, in closed form: for calibration of a fit that held no
// rows out.
#pragma once

#include "model/select/held_out_rows.h"
#include "model/select/left_out_rows.h"

namespace mercer::model {

/// Scores of at most 5,000 rows in each process, chosen by seed. A row that the fit interpolates
/// has none: its weight is 0.
class LeftOutScores {
 public:
  LeftOutScores(uint64_t seed, Context& context) : seed_(seed), context_(context) {}

  void take(const solver::BlockSource& rows, const solver::RidgePath& path, double lambda);
  void take(const solver::BlockSource& rows, const solver::CoupledPath& path, double lambda);
  void take(const solver::BlockSource& rows, const solver::RidgeFactor& factor,
            const solver::Weights& weights);
  /// All rows of the system.
  void take(const solver::DualSystem& system, const Matrix<double>& residuals);

  ScoredRows& rows() { return scored_; }

 private:
  std::vector<int64_t> prepare(const solver::BlockSource& rows, int64_t most);
  LeftOutRow adding();

  uint64_t seed_;
  Context& context_;
  ScoredRows scored_;
};

}  // namespace mercer::model
