// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
#pragma once

#include "base/aligned.h"
#include "base/context.h"
#include "model/predict.h"
#include "statistic/metrics.h"

namespace mercer::test {

/// R^2 on rows that a fit has not seen.
inline double r_squared(const model::Model& model, const Matrix<double>& X,
                        const Matrix<double>& Y) {
  const Matrix<double> scores(X.rows(), Y.cols());
  Context context;
  model::predict(model, Rows(X.view()), context, scores.view());
  return statistic::r_squared(Y.view(), scores.view());
}

}  // namespace mercer::test
