// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// The loss of one held-out row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/prepare/coding.h"

namespace mercer::model {

/// The score of the row's class minus the largest other score: 1 for perfect one-hot scores, <= 0
/// for an error, NaN if any score is. code: one-hot, of at least two classes.
double margin(const double* scores, const double* code, int64_t classes) noexcept;
/// A smooth step in the margin, 1 / (1 + exp(margin / 0.1)); 1 for NaN. Its minimum over lambda and
/// lengthscale is near the error rate's, with less noise: neighbouring candidates differ in the
/// errors of a handful of rows, but in every row's margin.
double soft_error(double margin) noexcept;

/// The loss that selection compares. Regression: squared errors times a scale per output, summed
/// over observed targets. Classification: the soft error.
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
