// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How predictions are scored: by the task, or by the loss that the model was fitted with.
#pragma once

#include <string>

#include "losses.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {

struct Scoring {
  bool classification = false;
  const LossRow* loss = nullptr;  // of numbers; null: squares
  double tau = 0;                 // of quantile; 0: 0.5

  /// With the metric.
  mercer_score_options options(mercer_score_options of_rows) const;
  /// "R^2 0.91000", "explained pinball loss 0.41000".
  std::string text(double score) const;
  /// Predictions of counts are logs of means, which nobody asked for; others stay.
  Matrix<double> means(Matrix<double> predicted) const;
};

/// Of a model by its spec.
Scoring scoring_of(const Model& model);

}  // namespace mercer::cli
