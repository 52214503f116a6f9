// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Errors of rows that were held out, summed over folds: of a model, of independent outputs, of
// means.
#pragma once

#include <string>
#include <vector>

#include "model/outputs/operator_search.h"

namespace mercer::model {

class OperatorErrors {
 public:
  /// scale: of each output, which errors are counted in, so that no square underflows.
  explicit OperatorErrors(std::vector<double> scale);
  /// Predictions of `test` by what was learnt from `train`; `other`: of independent outputs, or no
  /// rows.
  void add(MatrixView<const double> train, MatrixView<const double> test,
           MatrixView<const double> predicted, MatrixView<const double> other);
  OperatorScore score(bool nested) const;

 private:
  struct Row {
    std::vector<double> y, own, other, mean;  // p, NaN where missing; squared errors in units
  };
  std::vector<double> squares(const double* predicted, const double* y) const;
  std::vector<double> variances() const;
  std::vector<Row> rows_;
  std::vector<double> scale_;
  bool has_other_ = false;
};

/// Of the choice: where an edge was met, what was too few; of the score: what did no better.
/// largest, smallest: lambdas that were searched; 0: they were given. few_coefficients: far fewer
/// than observed targets, which no small lambda lets them pass through.
std::vector<std::string> operator_warnings(const OperatorReport& report, bool lengthscale_at_edge,
                                           double largest, double smallest, bool few_coefficients);

}  // namespace mercer::model
