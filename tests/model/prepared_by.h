// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What a fit would prepare rows by, under a context without a cap.
#pragma once

#include <span>

#include "model/prepare/row_summary.h"

namespace mercer::test {

inline model::Preparation fit_preparation(const model::PreparationOptions& asked, const Rows& X,
                                          MatrixView<const double> Y,
                                          std::span<const double> weights = {},
                                          const model::PreparationFacts& found = {}) {
  Context context;
  return model::RowSummary(asked, found, 0, X, Y, weights, context).preparation();
}

inline model::Preparation fit_standardizer(const Rows& X, std::span<const double> weights = {}) {
  return test::fit_preparation({}, X, {}, weights);
}

}  // namespace mercer::test
