// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What more features would bring: the fitted map at D, D/2, D/4, ... on some of the rows, scored on
// others. The widest of these fits also shows how predictions go wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/mercer.hpp"
#include "session.h"
#include "training_set.h"

namespace mercer::cli {

struct CurvePoint {
  int64_t features;
  double score;  // R^2 or accuracy
};

struct LearningCurve {
  int64_t train_rows = 0, test_rows = 0;
  std::vector<CurvePoint> points;  // ascending; empty for maps made from data and few rows
  Matrix<double> predicted{0, 0};  // test_rows x outputs, by the widest
  int64_t first_test_row = 0;      // in the set: its last rows
};

/// The kernel, its lengthscales and the other choices are the model's; lambda is chosen anew by
/// `options`. A fifth of the rows, the last ones, which the model may have been fitted on, is not
/// fitted on here. At most 10,000 rows are fitted on.
LearningCurve learning_curve(const Model& model, const TrainingSet& set,
                             const mercer_fit_options& options, Session& session);

}  // namespace mercer::cli
