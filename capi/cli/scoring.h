// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// How predictions are scored, by the task or by the loss of the fit, and scores as texts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset.h"
#include "json.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {

/// Rows [first, first + count) of d columns, dense or sparse.
inline Rows rows_of(const Numbers& numbers, int64_t first, int64_t count, int64_t d) {
  const double* values = numbers.values.data();
  if (!numbers.sparse) return MatrixView<const double>(values + first * d, count, d);
  return CsrView<double, int64_t>{
      count, d, std::ssize(numbers.values), numbers.offsets.data() + first, numbers.indices.data(),
      values};
}

/// Those rows of the inputs and targets of a data set.
inline Rows inputs_of(const Dataset& data, int64_t first, int64_t count) {
  return rows_of(data.X, first, count, data.d);
}
inline Rows targets_of(const Dataset& data, int64_t first, int64_t count) {
  return MatrixView<const double>(data.Y.data() + first * data.m, count, data.m);
}

/// A score of rows from `first` on, which count by their weights.
inline mercer_score_options score_options_of(const std::vector<double>& weights, int64_t first,
                                             mercer_metric metric = MERCER_METRIC_DEFAULT) {
  mercer_score_options options = score_options(metric);
  if (!weights.empty()) options.weights = weights.data() + first;
  return options;
}

/// A loss beside squares that --loss names.
struct LossRow {
  const char* name;
  const char* task;
  const char* measure;  // of its scores, as reports call it
  int32_t metric;
  const char* reads = "";      // an option of its own
  bool predicts_logs = false;  // of means
};
/// Null: there is none of this name.
const LossRow* find_loss(const std::string& name);

/// "R^2 0.96812" or "accuracy 0.9680".
std::string score_text(bool classification, double score);
/// By the name that a report has for the measure.
std::string measure_text(const std::string& measure, double score);
/// The number alone, right-aligned; "-" for NaN.
std::string score_number(double score, int width);

struct Scoring {
  bool classification = false;
  const LossRow* loss = nullptr;  // of numbers; null: squares
  double tau = 0;                 // of quantile; 0: 0.5

  /// The given options with the metric of this scoring.
  mercer_score_options options(mercer_score_options of_rows) const;
  /// "R^2 0.91000", "explained pinball loss 0.41000".
  std::string text(double score) const;
  /// "R^2", "explained pinball loss".
  std::string measure() const;
  bool predicts_logs() const { return loss != nullptr && loss->predicts_logs; }
  /// Exponentials of predictions of counts, which are logs of means; other predictions unchanged.
  Matrix<double> means(Matrix<double> predicted) const;
};
/// Of a model by its spec.
Scoring scoring_of(const Model& model);

/// Losses l_i whose mean is 1 - R^2 (K = 0: the squared error over the variance of its target, mean
/// over targets) or the error rate (scores of K classes). Means are by the data's weights.
std::vector<double> row_losses(const Matrix<double>& predicted, const Dataset& data, int64_t K);

/// Its rows as lists.
Json table_of(const Matrix<double>& numbers);

struct MeanOfRows {
  double value = 0;
  double standard_error = 0;
};
/// weights: empty for 1 each.
MeanOfRows mean_of(const std::vector<double>& numbers, const std::vector<double>& weights);

}  // namespace mercer::cli
