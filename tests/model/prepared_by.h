// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit would prepare rows by, under a context without a cap.
#pragma once

#include <span>

#include "model/row_summary.h"

namespace mercer::test {

inline model::Preparation fit_preparation(const model::FitOptions& options, const Rows& X,
                                          MatrixView<const double> Y,
                                          std::span<const double> weights = {}) {
  Context context;
  return model::fit_preparation(options, X, Y, context, weights);
}

inline model::Preparation fit_standardizer(const Rows& X, std::span<const double> weights = {}) {
  return test::fit_preparation({}, X, {}, weights);
}

}  // namespace mercer::test
