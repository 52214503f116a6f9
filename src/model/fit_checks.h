// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
// What fit and search refuse before any work: shapes, options, NaN, labels.
#pragma once

#include "model/model.h"

namespace mercer::model {

/// Options and shapes of X and Y that do not depend on a map.
void check_options(const FitOptions& options);
void check_shapes(const FitOptions& options, int64_t rows, int64_t inputs,
                  MatrixView<const double> Y);
/// At least one column of targets, and one alone for classification; `what` counts them.
void check_target_columns(const FitOptions& options, const char* what, int64_t columns);
/// Enough rows for the selection, and some of them with a weight.
void check_rows(const FitOptions& options, const char* what, int64_t rows, double weight);
/// A map's inputs are as many as X has columns.
void check_inputs(int64_t inputs, int64_t columns);
/// Real, and of as many inputs as X has columns.
void check_map(const feature::FeatureMap& map, int64_t columns);
/// Inputs summable (base/finite.h); NaN is allowed where missing numbers are filled.
void check_numbers(const FitOptions& options, const Rows& X);
/// Summable (base/finite.h), and for classification whole numbers in [0, classes).
void check_targets(const FitOptions& options, MatrixView<const double> Y);

}  // namespace mercer::model
