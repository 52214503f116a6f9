// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// Checks of what a caller hands to fit and search. Rows and columns are counted from 0 in messages.
#include "model/fit_checks.h"

#include <cmath>

#include "base/error.h"
#include "base/finite.h"

namespace mercer::model {
namespace {

using Long = long long;

void check_path(const FitOptions& options) {
  require(options.lambda_smallest > 0 && std::isfinite(options.lambda_largest) &&
              options.lambda_largest >= options.lambda_smallest,
          MERCER_INVALID_ARGUMENT,
          "lambda path from %g down to %g, expected 0 < smallest <= largest < infinity",
          options.lambda_largest, options.lambda_smallest);
  require(options.lambda_count >= 1, MERCER_INVALID_ARGUMENT,
          "lambda_count = %lld, expected at least 1", static_cast<Long>(options.lambda_count));
}

}  // namespace

void check_options(const FitOptions& options) {
  require(options.task == Task::regression || options.classes >= 2, MERCER_INVALID_ARGUMENT,
          "classes = %lld, expected at least 2 for classification",
          static_cast<Long>(options.classes));
  require(options.task == Task::regression || options.target_transform == Transform::none,
          MERCER_UNSUPPORTED, "target_transform of class numbers, expected none");
  require(options.standardize || options.scale == Scale::standard, MERCER_INVALID_ARGUMENT,
          "scale = %s and standardize = false, expected scale = standard, the default, or "
          "standardize = true: scale says how inputs are standardised",
          options.scale == Scale::robust ? "robust" : "center");
  if (options.selection == Selection::fixed) {
    require(options.lambda >= 0 && std::isfinite(options.lambda), MERCER_INVALID_ARGUMENT,
            "lambda = %g, expected a finite number >= 0", options.lambda);
    return;
  }
  check_path(options);
  if (options.selection == Selection::held_out) {
    require(options.held_out_fraction > 0 && options.held_out_fraction < 1, MERCER_INVALID_ARGUMENT,
            "held_out_fraction = %g, expected a number between 0 and 1", options.held_out_fraction);
  }
}

void check_target_columns(const FitOptions& options, const char* what, int64_t columns) {
  require(columns >= 1, MERCER_INVALID_ARGUMENT, "%s = %lld, expected at least 1", what,
          static_cast<Long>(columns));
  require(options.task == Task::regression || columns == 1, MERCER_DIMENSION_MISMATCH,
          "%s = %lld, expected 1 column of class numbers for classification", what,
          static_cast<Long>(columns));
}

void check_rows(const FitOptions& options, const char* what, int64_t rows, double weight) {
  require(rows >= 2, MERCER_INVALID_ARGUMENT, "%s has %lld rows, expected at least 2", what,
          static_cast<Long>(rows));
  require(options.selection != Selection::kfold || (options.folds >= 2 && options.folds <= rows),
          MERCER_INVALID_ARGUMENT, "folds = %lld, expected 2 to the number of rows, %lld",
          static_cast<Long>(options.folds), static_cast<Long>(rows));
  require(weight > 0 && std::isfinite(weight), MERCER_INVALID_ARGUMENT,
          "the weights of %s sum to %g, expected a positive, finite number", what, weight);
}

void check_shapes(const FitOptions& options, int64_t rows, int64_t inputs,
                  MatrixView<const double> Y) {
  check_rows(options, "X", rows, static_cast<double>(rows));
  require(inputs >= 1, MERCER_INVALID_ARGUMENT, "X has %lld columns, expected at least 1",
          static_cast<Long>(inputs));
  require(Y.rows == rows, MERCER_DIMENSION_MISMATCH, "Y has %lld rows, X has %lld",
          static_cast<Long>(Y.rows), static_cast<Long>(rows));
  require(Y.cols >= 1, MERCER_INVALID_ARGUMENT, "Y has %lld columns, expected at least 1",
          static_cast<Long>(Y.cols));
  require(options.task == Task::regression || Y.cols == 1, MERCER_DIMENSION_MISMATCH,
          "Y has %lld columns, expected 1 column of class numbers for classification",
          static_cast<Long>(Y.cols));
}

void check_inputs(int64_t inputs, int64_t columns) {
  require(inputs == columns, MERCER_DIMENSION_MISMATCH,
          "X has %lld columns, the map expects %lld inputs", static_cast<Long>(columns),
          static_cast<Long>(inputs));
}

void check_map(const feature::FeatureMap& map, int64_t columns) {
  require(!map.is_complex(), MERCER_UNSUPPORTED,
          "the map is complex; ridge needs a real one, such as form pair or phase, or field "
          "real or complex_to_real");
  check_inputs(map.inputs(), columns);
}

void check_numbers(const FitOptions& options, const Rows& X) {
  require_summable(
      "X", X,
      options.missing == Missing::refuse ? MissingNumbers::refused : MissingNumbers::allowed);
}

void check_targets(const FitOptions& options, MatrixView<const double> Y) {
  require_summable("Y", Y);
  if (options.task != Task::classification) return;
  for (int64_t i = 0; i < Y.rows; ++i) {
    const double label = Y(i, 0);
    require(
        label >= 0 && label < static_cast<double>(options.classes) && label == std::floor(label),
        MERCER_INVALID_ARGUMENT,
        "Y: row %lld (counted from 0) has class %g, expected a whole number from 0 to %lld",
        static_cast<Long>(i), label, static_cast<Long>(options.classes - 1));
  }
}

}  // namespace mercer::model
