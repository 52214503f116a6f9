// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Exact kernel ridge as the reference for `mercer compare`: standardise, Gram, solve, predict.
#pragma once

#include <memory>
#include <span>

#include "model/model.h"
#include "model/prepare/prepared_rows.h"

namespace mercer::model {

struct ExactModel {
  std::shared_ptr<const kernel::Kernel> kernel;
  Preparation preparation;
  int64_t inputs = 0;
  PreparedRows rows;         // of training
  Matrix<double> alpha;      // n x outputs
  std::vector<double> mean;  // of the outputs, added back
};

/// The least sum_i w_i |f(x_i) - y_i|^2 + n lambda ||f||^2 of f = mean + k(., rows) alpha, n the
/// sum of the weights w (numbers >= 0, or none: 1 each); they count in means and scales, too.
/// O(n^2 d + n^3) time, 8 n^2 bytes and the rows; sparse rows stay so unless they are centred,
/// and d is then what a row lists, for kernels of kernel::pairs_as_listed. lambda is select.lambda;
/// selection is ignored by definition of the reference.
ExactModel fit_exact(std::shared_ptr<const kernel::Kernel> kernel, const Fitting& asked,
                     const Rows& X, MatrixView<const double> Y, Context& context,
                     std::span<const double> weights = {});
void predict_exact(const ExactModel& model, const Rows& X, Context& context,
                   MatrixView<double> scores);

}  // namespace mercer::model
