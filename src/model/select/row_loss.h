// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The loss of one row, from scores that its own target had no part in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/prepare/coding.h"

namespace mercer::model {

/// The score of the row's class less the largest other one: 1 for perfect one-hot scores, not
/// positive for an error, NaN where any score is. code: one-hot, of at least two classes.
double margin(const double* scores, const double* code, int64_t classes) noexcept;
/// A smooth step in the margin, 1 / (1 + exp(margin / 0.1)): its minimum over lambda and
/// lengthscale lies where the error rate's does, and it is not as noisy: neighbouring candidates
/// differ in a handful of rows, but in every row's margin. 1 for a margin of NaN.
double soft_error(double margin) noexcept;

/// What selection compares. Regression: squared errors times a scale per output, summed over those
/// whose target is not NaN.
/// Classification: the soft error.
class RowLoss {
 public:
  RowLoss(Task task, std::vector<double> scale) : task_(task), scale_(std::move(scale)) {}
  double operator()(const double* scores, const double* code) const noexcept;

 private:
  Task task_;
  std::vector<double> scale_;  // one per output
};

/// Plain sums of squares: scales of 1.
RowLoss plain_loss(Task task, int64_t outputs);

}  // namespace mercer::model
