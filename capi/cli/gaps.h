// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields that rows lack: inputs, which are filled, and targets, without which a row has no score.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "dataset.h"
#include "scoring.h"

namespace mercer::cli {

/// Missing inputs of a file, before text is encoded.
struct MissingInputs {
  int64_t rows = 0;                // with at least one
  std::vector<int64_t> per_input;  // of the file
};
MissingInputs missing_inputs(const Dataset& data);

/// "note: 3 of 90 rows lack inputs (age: 2, height: 1), filled" where any do; null: not printed.
void tell_missing(const MissingInputs& missing, int64_t n, const std::vector<std::string>& names,
                  std::FILE* out);

/// Predictions of the rows of which targets are known, and these, NaN where one is not.
struct TargetRows {
  Matrix<double> numbers;
  std::vector<double> targets;
  int64_t outputs;
  std::vector<double> weights = {};  // empty: 1 each

  int64_t rows() const { return numbers.rows(); }
  Rows truth() const { return MatrixView<const double>(targets.data(), rows(), outputs); }
  mercer_score_options options(mercer_metric metric = MERCER_METRIC_DEFAULT) const {
    return score_options_of(weights, 0, metric);
  }
  /// " (2 without a target left out), by their weights": what a score of these rows counts.
  std::string text(const Dataset& test) const;
};

inline constexpr double kAnyTarget = -HUGE_VAL;
/// `least`: targets below it are not known; classes that a model does not know are -1.
TargetRows rows_with_targets(const Matrix<double>& numbers, const Dataset& test, double least);

/// "u 3 of 90 missing, v 1 of 90 missing"; fails for a target that no row has.
std::string missing_targets(const Dataset& data);

}  // namespace mercer::cli
