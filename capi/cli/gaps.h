// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Fields that rows lack: inputs, which are filled, and targets, without which a row has no score.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "dataset.h"
#include "mercer/mercer.hpp"

namespace mercer::cli {

/// Missing inputs of a file, before text is encoded.
struct MissingInputs {
  int64_t rows = 0;                // with at least one
  std::vector<int64_t> per_input;  // of the file
};
MissingInputs missing_inputs(const Dataset& data);

/// "note: 3 of 90 rows lack inputs (age: 2, height: 1), filled", unless none does; out: nullptr for
/// nowhere.
void tell_missing(const MissingInputs& missing, int64_t n, const std::vector<std::string>& names,
                  std::FILE* out);

/// Predictions of the rows whose targets are known, and these.
struct TargetRows {
  Matrix<double> numbers;
  std::vector<double> targets;
  int64_t outputs;
  std::vector<double> weights = {};  // empty: 1 each

  int64_t rows() const { return numbers.rows(); }
  Rows truth() const { return MatrixView<const double>(targets.data(), rows(), outputs); }
  mercer_score_options options(mercer_metric metric = MERCER_METRIC_DEFAULT) const {
    mercer_score_options options = score_options(metric);
    if (!weights.empty()) options.weights = weights.data();
    return options;
  }
};

/// `least`: rows with a target below it are left out, too; classes that a model does not know are
/// -1.
TargetRows rows_with_targets(const Matrix<double>& numbers, const Dataset& test, double least);

/// Of rows from `first` on, which `numbers` predicts: target o alone, where it is known.
TargetRows rows_with_target(const Matrix<double>& numbers, const Dataset& test, int64_t o,
                            int64_t first = 0);
/// The mean over targets of R^2 on the rows that hold them; NaN where no target varies.
struct MeanR2 {
  double value;
  std::string left_out;  // " (without v: ...)": targets that have no values or do not vary
};
MeanR2 mean_r2(const Matrix<double>& numbers, const Dataset& test,
               const std::vector<std::string>& names, int64_t first = 0);
/// Some row holds some of its targets.
bool has_partial_targets(const Dataset& test);

}  // namespace mercer::cli
