// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What more features would bring: the same kernel with D, D/2, D/4, ... features fitted on some of
// the rows, scored on others. The widest of these fits also shows how predictions go wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "commands.h"
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
  std::vector<CurvePoint> points;      // ascending; empty for few rows
  Matrix<double> predicted{0, 0};      // test_rows x outputs, by the widest
  Matrix<double> probabilities{0, 0};  // the same; no rows where the model has none
  std::vector<int64_t> outside;        // of the test rows: outside each input's range
  int64_t first_test_row = 0;          // in the set
};

/// Everything but lambda is the model's. The first n rows of the set are shuffled; at most 10,000 of
/// four fifths of them are fitted on, at most 10,000 of the other fifth are scored. The model itself
/// may have been fitted on those.
LearningCurve learning_curve(const LearnRequest& request, const Model& model, TrainingSet* set,
                             int64_t n, Session& session);

}  // namespace mercer::cli
