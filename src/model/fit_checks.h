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
/// Real, and of as many inputs as X has columns.
void check_map(const feature::FeatureMap& map, int64_t columns);
/// Summable (base/finite.h), and for classification whole numbers in [0, classes).
void check_targets(const FitOptions& options, MatrixView<const double> Y);

}  // namespace mercer::model
